"""Makes the files of several exercises out of one source that holds them all.

A file of its own for each exercise is what lets one be judged with right values in the place of
another. So the file of an exercise imports what it uses of others, where the source defines it.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping

from autograder.assignment import Exercise
from autograder.intake.kept import find_needed
from autograder.intake.statements import (
    DEFINITION,
    Statement,
    Unreadable,
    get_name,
    read_statements,
)
from autograder.intake.tree import Refused


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
    try:
        pieces = list(_split(source, homes))
    except Unreadable as error:
        raise Refused(str(error)) from error
    if prune:
        needed = find_needed(pieces, set(exercise.names))
        pieces = [piece for piece in pieces if piece.is_future or id(piece) in needed]
    return "\n\n\n".join(piece.text for piece in pieces) + "\n" * bool(pieces)


def _split(source: str, homes: Mapping[str, str]) -> Iterator[Statement]:
    for statement in read_statements(source):
        name = get_name(statement.node)
        if name in homes:
            text = f"from {homes[name]} import {name}"
            yield Statement(statement.node, text, DEFINITION, binds={name})
        elif not _changes(statement, homes):
            yield statement


def _changes(statement: Statement, homes: Mapping[str, str]) -> bool:
    """Tell whether a statement sets attributes of what another exercise defines."""
    return isinstance(statement.node, ast.Assign) and bool(
        statement.changes and not statement.binds and statement.changes <= homes.keys()
    )
