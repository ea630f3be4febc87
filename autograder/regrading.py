"""What a corrected test touches, so that only this is judged again.

A test touches its own exercise, and those that use it: they are judged again with right values
when it is not perfect. What these in turn use, and what was not perfect, has to be judged beside
them. All else of an earlier result still holds, since the same files were judged by the same tests.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from autograder import pictures
from autograder.assignment import Assignment
from autograder.digest import Parts
from autograder.pictures import InvalidPictures
from autograder.results import Judgement, Result

DIGESTS = "digests.json"


class Digests(msgspec.Struct):
    """The content of digests.json: what each student's result was made of."""

    schema_version: Literal[1] = 1
    students: dict[str, Parts] = {}


def decode_digests(data: bytes) -> Digests:
    """Read digests.json; nothing when it cannot be read, so that all is judged again."""
    try:
        return msgspec.json.decode(data, type=Digests)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return Digests()


def choose_exercises(
    assignment: Assignment, earlier: Result, old: Parts | None, new: Parts
) -> list[str]:
    """Return the exercises to judge again, in their order; none when that must be all of them."""
    if old is None or old.digest != earlier.digest or old.rest != new.rest or earlier.flags:
        return []  # a flag does not say which test has raised it
    if old.exercises.keys() != new.exercises.keys():
        return []
    chosen = {e.id for e in assignment.exercises if old.exercises[e.id] != new.exercises[e.id]}
    imperfect = {test.exercise for test in earlier.tests if test.verdict != "passed"}
    before: set[str] = set()
    while chosen != before:
        before = set(chosen)
        chosen |= {e.id for e in assignment.exercises if chosen.intersection(e.uses)}
        used = {name for e in assignment.exercises if e.id in chosen for name in e.uses}
        chosen |= used & imperfect
    if len(chosen) == len(assignment.exercises):
        return []
    return [exercise.id for exercise in assignment.exercises if exercise.id in chosen]


def merge(
    assignment: Assignment,
    earlier: Result,
    judged: Judgement,
    exercises: Collection[str],
    seen: bytes = b"",
) -> Judgement:
    """Put an earlier result and a judgement of some exercises together.

    Args:
        assignment: what was asked.
        earlier: holds for all other exercises.
        judged: holds for these exercises.
        exercises: that were judged.
        seen: the pictures of the earlier result.

    Raises:
        KeyError: the earlier result lacks a test.
    """
    kept = {test.id: test for test in earlier.tests if test.exercise not in exercises}
    order = {exercise.id: place for place, exercise in enumerate(assignment.exercises)}
    diagnoses = [d for d in earlier.diagnosis if d.exercise not in exercises]
    diagnoses += judged.diagnosis
    carried = [name for name in earlier.carried_forward if name not in exercises]
    carried += judged.carried_forward
    try:
        shown = [p for p in pictures.decode(seen) if p.exercise not in exercises]
    except InvalidPictures:
        shown = []
    shown += pictures.decode(judged.pictures)
    return msgspec.structs.replace(
        judged,
        tests=[test if test.exercise in exercises else kept[test.id] for test in judged.tests],
        diagnosis=sorted(diagnoses, key=lambda diagnosis: order[diagnosis.exercise]),
        carried_forward=sorted(carried, key=order.__getitem__),
        pictures=pictures.encode(sorted(shown, key=lambda picture: order[picture.exercise])),
    )


class Regrading:
    """The earlier results of a class that hold in part, and what is to be judged of them."""

    def __init__(self, assignment: Assignment, folder: Path) -> None:
        self.assignment = assignment
        self.folder = folder
        try:
            self._old = decode_digests((folder / DIGESTS).read_bytes())
        except OSError:
            self._old = Digests()
        self._new: dict[str, Parts] = {}
        self._plans: dict[str, tuple[Result, list[str]]] = {}

    def know(self, student: str, parts: Parts) -> None:
        """Note what a student's result is to be made of now."""
        self._new[student] = parts

    def plan(self, student: str, earlier: Result) -> None:
        """Note an earlier result, of which a part may still hold."""
        old, new = self._old.students.get(student), self._new[student]
        exercises = choose_exercises(self.assignment, earlier, old, new)
        if exercises:
            self._plans[student] = (earlier, exercises)

    def choose(self, student: str, isolation: str) -> list[str]:
        """Return the exercises to judge of a student; none are all of them."""
        if student in self._plans and self._plans[student][0].isolation != isolation:
            del self._plans[student]
        return self._plans[student][1] if student in self._plans else []

    def complete(self, student: str, judged: Judgement) -> Judgement:
        """Return a judgement with all exercises, those that were not judged as they were."""
        if student not in self._plans:
            return judged
        earlier, exercises = self._plans[student]
        try:
            seen = (self.folder / student / pictures.PICTURES).read_bytes()
        except OSError:
            seen = b""
        return merge(self.assignment, earlier, judged, exercises, seen)

    def describe(self, known: Mapping[str, Result]) -> dict[str, object]:
        """Return the content of digests.json: of every result that is there."""
        kept: dict[str, Parts] = {}
        for student, result in sorted(known.items()):
            for parts in (self._new.get(student), self._old.students.get(student)):
                if parts is not None and parts.digest == result.digest:
                    kept[student] = parts
                    break
        described: dict[str, object] = msgspec.to_builtins(Digests(students=kept))
        return described
