"""Makes the files of several exercises out of one source that holds them all.

A file of its own for each exercise is what lets one be judged with right values in the place of
another. So the file of an exercise imports what it uses of others, where the source defines it.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autograder.assignment import Exercise
from autograder.intake.notebook import cut, parse

Definition = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class _Piece:
    """A statement at the top of a source: its text, what it defines, what it needs."""

    text: str
    defines: frozenset[str]
    needs: frozenset[str]
    is_always: bool = False


def take_part(source: str, exercise: Exercise, used: Iterable[Exercise], *, prune: bool) -> str:
    """Return what one exercise needs of a source.

    Args:
        source: the text, Python.
        exercise: whose file is made.
        used: exercises with files of their own; what they define is imported from these.
        prune: leave out what the exercise does not need, imports of other packages included.

    Raises:
        Refused: the source is not Python.
    """
    homes = {name: other.file.removesuffix(".py") for other in used for name in other.names}
    pieces = list(_split(source, homes))
    if prune:
        pieces = _keep_needed(pieces, set(exercise.names))
    return "\n\n\n".join(piece.text for piece in pieces) + "\n" * bool(pieces)


def _split(source: str, homes: dict[str, str]) -> Iterator[_Piece]:
    lines = source.split("\n")
    for node in parse(source).body:
        if isinstance(node, Definition) and node.name in homes:
            text = f"from {homes[node.name]} import {node.name}"
            yield _Piece(text, frozenset([node.name]), frozenset())
        elif not _changes(node, homes):
            is_always = isinstance(node, ast.ImportFrom) and (
                node.module == "__future__" or any(alias.name == "*" for alias in node.names)
            )
            defines, needs = frozenset(_find_defined(node)), frozenset(_find_needed(node))
            yield _Piece(cut(lines, node), defines, needs, is_always)


def _changes(node: ast.stmt, homes: dict[str, str]) -> bool:
    """Tell whether a statement sets attributes of what another exercise defines."""
    return isinstance(node, ast.Assign) and all(
        isinstance(target, ast.Attribute) and _get_base(target) in homes for target in node.targets
    )


def _keep_needed(pieces: list[_Piece], wanted: set[str]) -> list[_Piece]:
    kept: set[int] = set()
    while True:
        more = {
            number
            for number, piece in enumerate(pieces)
            if number not in kept and (piece.is_always or piece.defines & wanted)
        }
        if not more:
            return [pieces[number] for number in sorted(kept)]
        kept |= more
        for number in more:
            wanted |= pieces[number].needs


def _find_defined(node: ast.stmt) -> Iterator[str]:
    """Yield the names that a statement binds, and those whose attributes it sets."""
    if isinstance(node, Definition):
        yield node.name
        return
    for part in ast.walk(node):
        if isinstance(part, ast.alias):
            yield part.asname or part.name.split(".")[0]
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield _get_base(part)
        elif isinstance(part, Definition):  # in a try around an import
            yield part.name


def _find_needed(node: ast.stmt) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Global):
            yield from part.names


def _get_base(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
