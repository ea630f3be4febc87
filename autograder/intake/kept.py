"""What of a notebook's cells is graded. They are read as data: nothing in them is run.

Imports, functions, classes and plain constants are kept, and the other assignments that these
use. Training loops, plots, magics and shell lines go, so that importing the rest is quick and
harmless. `check.py` tells students with this very module what will not be there when their
notebook is graded; so it needs nothing but Python.
"""

from __future__ import annotations

import builtins
import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

# The same in both places where this module lies.
from .statements import (
    DEFINITION,
    VALUE,
    WORK,
    Statement,
    Unreadable,
    is_def,
    read_statements,
)

_SHELL = re.compile(r"^\s*(?:%{1,2}[A-Za-z]|[!?]|[\w.]+\s*=\s*(?:%[A-Za-z]|!)|[\w.]+\?{1,2}\s*$)")
_HARMLESS_MAGICS = ("%%time", "%%timeit", "%%capture", "%%prun")
_BARRED = frozenset(("open", "input", "exec", "eval", "compile", "__import__"))
_BUILTINS = frozenset(dir(builtins)) - _BARRED


@dataclass
class Kept:
    """What is graded of some cells, as a module, and what is missing in it."""

    source: str = ""
    lost: list[str] = field(default_factory=list)  # names that it uses and that are not computed
    broken: list[str] = field(default_factory=list)  # what was left out for not being Python

    @property
    def notes(self) -> list[str]:
        return [*self.broken, *map(explain_loss, self.lost)]


def explain_loss(name: str) -> str:
    """Say that the graded code uses a name which it does not have."""
    return (
        f"{name} is used by your code but computed in a cell that is not run in grading: only"
        " imports, functions, classes and the assignments that they use are. Compute it in a"
        " function, or in the class that uses it"
    )


def keep_cells(cells: Iterable[str], wanted: Collection[str] | None = None) -> Kept:
    """Return what is kept of the sources of code cells.

    Args:
        cells: in the order in which they are run.
        wanted: the names that are graded; when it is left out, all definitions and constants.
    """
    kept = Kept()
    statements = list(_read_statements(cells, kept.broken))
    _forget_overwritten(statements)
    solid = {name for s in statements if s.kind == DEFINITION for name in s.binds}
    has_star = any(s.is_star for s in statements)
    known, lost = set(_BUILTINS), set[str]()
    run: list[Statement] = []
    for statement in statements:
        unknown = statement.needs - known
        is_possible = not unknown or (has_star and not unknown & (lost | _BARRED))
        if statement.kind == VALUE and statement.binds & solid:
            is_possible = False  # a definition stays, whatever cells that try things out do
        if statement.kind == DEFINITION or (statement.kind != WORK and is_possible):
            run.append(statement)
            known |= statement.binds
            lost -= statement.binds
        else:
            gone = statement.defines - solid
            lost |= gone
            known -= gone
    always = [s for s in run if s.kind != VALUE]
    used = set(wanted) if wanted is not None else {name for s in always for name in s.uses}
    needed = find_needed(run, used)
    kept.lost = sorted(lost & used)
    chosen = [s for s in run if s.kind != VALUE or id(s) in needed]
    first = [s.text for s in chosen if s.is_future]  # where Python wants it
    rest = [s.text for s in chosen if not s.is_future]
    kept.source = "\n\n".join([*dict.fromkeys(first), *rest]) + "\n" * bool(rest)
    return kept


def find_needed(statements: Iterable[Statement], used: set[str]) -> set[int]:
    """Return the ids of the statements that `used` needs; adds to it what these use in turn."""
    homes: dict[str, list[Statement]] = {}
    todo: list[Statement] = []
    for statement in statements:
        for name in statement.defines:
            homes.setdefault(name, []).append(statement)
        todo += [statement] * statement.is_star
    todo += [statement for name in used for statement in homes.get(name, [])]
    needed: set[int] = set()
    while todo:
        statement = todo.pop()
        if id(statement) not in needed:
            needed.add(id(statement))
            more = statement.uses - used
            used |= more
            todo += [other for name in more for other in homes.get(name, [])]
    return needed


def read_cells(text: str) -> list[str]:
    """Return the sources of a notebook's code cells.

    Raises:
        Unreadable: not JSON, or JSON that is no notebook.
    """
    try:
        notebook: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable("is not a readable notebook") from error
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise Unreadable("is not a notebook of format 4; save it anew in Jupyter")
    found: list[str] = []
    for cell in cells:
        if not isinstance(cell, dict) or cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        if isinstance(source, list):
            source = "".join(part for part in source if isinstance(part, str))
        if isinstance(source, str):
            text = source.encode("utf-8", "replace").decode("utf-8")  # half surrogate pairs
            found.append(text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", ""))
    return found


def _read_statements(cells: Iterable[str], broken: list[str]) -> Iterator[Statement]:
    for number, code in enumerate(cells, 1):
        try:
            yield from read_statements(_drop_magics(code))
        except Unreadable as reason:
            broken.append(f"code cell {number} was left out: it {reason}")


def _drop_magics(code: str) -> str:
    """Blank the lines that are IPython's rather than Python's, when the cell needs it."""
    first = code.lstrip().split("\n", 1)[0]
    if first.startswith("%%") and first.split()[0] not in _HARMLESS_MAGICS:
        return ""
    try:
        next(read_statements(code), None)
    except Unreadable:
        lines = code.split("\n")
        # `pass` keeps a block alive whose only line is a magic.
        return "\n".join(
            re.match(r"\s*", line)[0] + "pass" if _SHELL.match(line) else line  # type: ignore[index]
            for line in lines
        )
    return code


def _forget_overwritten(statements: list[Statement]) -> None:
    """Forget what functions and classes use that are defined anew before they are used."""
    anew: set[str] = set()
    for statement in reversed(statements):
        if is_def(statement.node):
            if statement.binds & anew:
                statement.uses = statement.needs
            anew |= statement.binds
        if statement.kind != WORK:
            anew -= statement.needs | statement.changes
