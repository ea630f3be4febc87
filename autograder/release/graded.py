"""The graded tests of an assignment as their files say, read without running anything.

A hidden test is also made to stand alone: one piece of source with every hidden helper that it
uses inside, for platforms that run tests where the student's code runs.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from autograder.assignment import Assignment, Exercise
from autograder.cells import cell_of
from autograder.errors import KitError
from autograder.results import exact, sum_points
from autograder.template import MARK, build_stubs

Function = (ast.FunctionDef, ast.AsyncFunctionDef)
SAID = ("points", "title", "hint")  # what is read of a mark


@dataclass(frozen=True)
class DeclaredTest:
    """A graded test: where it stands, and what its mark says."""

    exercise: str
    name: str
    title: str
    hint: str
    points: Decimal
    is_hidden: bool
    number: int  # among the public or the hidden tests of its exercise, from 1
    path: Path

    @property
    def id(self) -> str:
        return f"{self.exercise}::{self.name}"

    @property
    def cell(self) -> str:
        """What platforms call it: tells no name of a hidden test."""
        return cell_of(self.exercise, "hidden" if self.is_hidden else "public", self.number)


def list_tests(assignment: Assignment) -> list[DeclaredTest]:
    """All graded tests: by exercise, public before hidden, as they stand in their files.

    Raises:
        KitError: a mark that cannot be read without running it, or points that do not add up.
    """
    tests: list[DeclaredTest] = []
    for exercise in assignment.exercises:
        mine = list(_read_marks(assignment, exercise))
        total = sum_points(test.points for test in mine)
        if total != exercise.points:
            raise KitError(
                f"the tests of {exercise.id} are worth {total} points;"
                f" assignment.toml says {exercise.points}."
            )
        tests += mine
    return tests


def _read_marks(assignment: Assignment, exercise: Exercise) -> Iterator[DeclaredTest]:
    for is_hidden, folder in ((False, assignment.public_tests), (True, assignment.hidden_tests)):
        path = folder / f"test_{exercise.id}.py"
        functions = _parse(path).body if path.is_file() else []
        number = 0
        for node in functions:
            if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
                continue
            said = _read_mark(node, path)
            number += 1
            yield DeclaredTest(
                exercise=exercise.id,
                name=node.name,
                title=said.get("title", ""),
                hint=said.get("hint", ""),
                points=exact(said.get("points", "")),
                is_hidden=is_hidden,
                number=number,
                path=path,
            )


def _read_mark(node: ast.FunctionDef, path: Path) -> dict[str, str]:
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func).endswith(f".{MARK}"):
            try:
                return {
                    word.arg: ast.literal_eval(word.value)
                    for word in decorator.keywords
                    if word.arg in SAID
                }
            except ValueError:
                break
    raise KitError(f"{path}: {node.name} has no @pytest.mark.{MARK} of plain texts.")


# --- a test that stands alone ---------------------------------------------------------------------


@dataclass
class _Module:
    """A hidden file: its text, and what each of its names is defined by."""

    path: Path
    text: str
    owners: dict[str, ast.stmt] = field(default_factory=dict)

    def cut(self, node: ast.stmt) -> str:
        """The lines of a statement; of a graded test, without its mark."""
        first = node.lineno
        if isinstance(node, (*Function, ast.ClassDef)) and not node.name.startswith("test_"):
            first = min([first, *(part.lineno for part in node.decorator_list)])
        return "\n".join(self.text.splitlines()[first - 1 : node.end_lineno])


class StandAlone:
    """Makes the hidden tests of an assignment stand alone."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self.stubs = build_stubs(assignment)
        paths = sorted(assignment.hidden_tests.glob("*.py"))
        self.modules = {path.stem: _read_module(path) for path in paths}

    def source_of(self, test: DeclaredTest) -> str:
        """The definition of a test after all that it needs, to be put inside a function.

        Public helpers are imported by their plain names. A test that reads a file beside itself
        finds the stub there, put down by `checking.cells`.

        Raises:
            KitError: two different helpers of one name.
        """
        found = _Closure(self)
        found.need(self.modules[test.path.stem], test.name)
        pieces = sorted(found.imports)
        if found.reads_beside:
            file = self.assignment.exercise(test.exercise).file
            pieces.append(f"__file__ = checking.cells.beside({{{file!r}: {self.stubs[file]!r}}})")
        # Helper files first, each in its own order: constants are computed from top to bottom.
        order = sorted(found.defined, key=lambda key: (key[0] == test.path.stem, *key))
        pieces += [self.modules[stem].cut(found.defined[stem, line]) for stem, line in order]
        return "\n\n".join(pieces) + "\n"


class _Closure:
    """What a test needs, found name by name."""

    def __init__(self, alone: StandAlone) -> None:
        self.alone = alone
        self.imports: set[str] = set()
        self.defined: dict[tuple[str, int], ast.stmt] = {}
        self.homes: dict[str, str] = {}
        self.reads_beside = False

    def need(self, module: _Module, name: str) -> None:
        if name == "__file__":
            self.reads_beside = True
        node = module.owners.get(name)
        if node is None:  # a builtin, or an own local name
            return
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self._need_import(node, name)
            return
        if self.homes.setdefault(name, module.path.stem) != module.path.stem:
            raise KitError(f"{name} is defined in two hidden test files; rename one.")
        key = (module.path.stem, node.lineno)
        if key not in self.defined:
            self.defined[key] = node
            for used in _names_in(node):
                self.need(module, used)

    def _need_import(self, node: ast.Import | ast.ImportFrom, name: str) -> None:
        for alias in node.names:
            if name != (alias.asname or alias.name.split(".")[0]):
                continue
            stem = node.module or "" if isinstance(node, ast.ImportFrom) else alias.name
            if stem in self.alone.modules:
                if not isinstance(node, ast.ImportFrom) or alias.asname:
                    raise KitError(
                        f"import {stem} as `from {stem} import ...` in the hidden tests."
                    )
                self.need(self.alone.modules[stem], name)
            elif isinstance(node, ast.ImportFrom):
                self.imports.add(ast.unparse(ast.ImportFrom(node.module, [alias], node.level)))
            else:
                self.imports.add(ast.unparse(ast.Import([alias])))


def indent(source: str) -> str:
    """Source put one level deeper."""
    return textwrap.indent(source, "    ")


def _read_module(path: Path) -> _Module:
    module = _Module(path, path.read_text(encoding="utf-8"))
    for node in _parse(path).body:
        for name in _bound_by(node):
            module.owners[name] = node
    return module


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise KitError(f"{path} cannot be read as Python: {error}.") from None


def _bound_by(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement at the top of a module defines."""
    if isinstance(node, (*Function, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.split(".")[0] for alias in node.names)
    else:
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                yield part.id


def _names_in(node: ast.stmt) -> list[str]:
    """The names that a statement uses, marks of tests aside."""
    skipped: set[ast.AST] = set()
    if isinstance(node, Function) and node.name.startswith("test_"):
        for decorator in node.decorator_list:
            skipped.update(ast.walk(decorator))
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n not in skipped}
    return sorted(names)
