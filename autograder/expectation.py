"""What a gallery case declares in its case.toml, held against what the judge says of it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from autograder.errors import BrokenAssignment
from autograder.results import VERDICTS, Judgement, Result

CASE = "case.toml"


class Case(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The keys of a case.toml. `verdicts` lists every test that is not passed."""

    title: str
    exercises: list[str] = []  # the exercises at fault
    faults: list[str] = []  # ids in the fault dictionary, in any order
    remove: list[str] = []  # files of the reference that are absent
    verdicts: dict[str, str] = {}
    attacks: list[str] = []
    earns: dict[str, str] = {}
    effects: dict[str, list[str]] = {}


def read_case(folder: Path) -> Case:
    """Reads a case's declaration.

    Raises:
        BrokenAssignment: it is not TOML, or has keys or verdicts that do not exist.
    """
    path = folder / CASE
    try:
        case = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Case)
    except (OSError, ValueError) as error:
        raise BrokenAssignment(f"{path}: {error}") from error
    for test, verdict in case.verdicts.items():
        if verdict not in VERDICTS:
            raise BrokenAssignment(f"{path}: {test} cannot be {verdict!r}.")
    return case


def expand(verdicts: dict[str, str], tests: Sequence[str]) -> dict[str, str]:
    """Spells out `exercise::*`; what is listed by name goes before that.

    Raises:
        KeyError: a test that does not exist.
    """
    expanded: dict[str, str] = {}
    for pattern, verdict in verdicts.items():
        exercise, _, name = pattern.partition("::")
        found = [test for test in tests if test == pattern]
        if name == "*":
            found = [t for t in tests if t.startswith(f"{exercise}::") and t not in verdicts]
        if not found:
            raise KeyError(pattern)
        expanded |= dict.fromkeys(found, verdict)
    return expanded


def compare(case: Case, judgement: Judgement | Result) -> list[str]:
    """Where the judge and the case disagree, one line each."""
    tests = [test.id for test in judgement.tests]
    try:
        expected = expand(case.verdicts, tests)
    except KeyError as error:
        return [f"there is no test {error.args[0]}"]
    lines = []
    for test in judgement.tests:
        want = expected.get(test.id, "passed")
        if test.verdict != want:
            said = (test.staff_message or test.message).splitlines()[:1]
            lines.append(f"{test.id} is {test.verdict}, not {want}: {''.join(said)[:160]}")
    return lines


def compare_all(gallery: Path, results: Mapping[str, Result]) -> tuple[int, list[str]]:
    """How many right and wrong cases there are among results, and where any of them disagree."""
    count, lines = 0, []
    for student, result in results.items():
        kind, _, name = student.partition("-")
        if kind in ("right", "wrong"):
            count += 1
            found = compare(read_case(gallery / kind / name), result)
            lines += [f"{student}: {line}" for line in found]
    return count, lines


def condense(judgement: Judgement | Result, exercises: Iterable[str]) -> dict[str, str]:
    """The verdicts of a judgement as a case would declare them, `exercise::*` where all agree."""
    verdicts: dict[str, str] = {}
    for exercise in exercises:
        mine = [test for test in judgement.tests if test.exercise == exercise]
        kinds = {test.verdict for test in mine}
        if len(kinds) == 1 and len(mine) > 1 and kinds != {"passed"}:
            verdicts[f"{exercise}::*"] = kinds.pop()
        else:
            verdicts |= {test.id: test.verdict for test in mine if test.verdict != "passed"}
    return verdicts


def accept(folder: Path, judgement: Judgement | Result, exercises: Iterable[str]) -> None:
    """Writes a judgement's verdicts into a case.toml, leaving all else in it as it is."""
    path = folder / CASE
    text = path.read_text(encoding="utf-8")
    rows = [f'"{test}" = "{verdict}"' for test, verdict in condense(judgement, exercises).items()]
    table = "\n".join(["[verdicts]", *rows]) + "\n"
    if re.search(r"^\[verdicts\]$", text, re.MULTILINE):
        text = re.sub(r"^\[verdicts\]\n(?:(?!\[).*\n?)*", table, text, flags=re.MULTILINE)
    else:
        text = text.rstrip("\n") + "\n\n" + table
    path.write_text(text, encoding="utf-8", newline="\n")
