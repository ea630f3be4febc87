"""Puts the accounts of the tests into the few lines that you see."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TextIO

COLOURS = {"good": "32", "bad": "31", "open": "33", "faint": "2", "bold": "1"}
MARKS = {"good": "✓", "bad": "✗", "open": "·"}
PLAIN_MARKS = {"good": "+", "bad": "x", "open": "."}
WRONG = ("bad", "open")
MORE = " Pictures of what your code does show more: python check.py --plots"
Account = Mapping[str, Any]  # an `explanation.Told`
Exercise = Mapping[str, Any]  # an entry of graded.json, with its number


class Style:
    """What the place that is written to can show: colours, and marks beyond ASCII."""

    def __init__(self, out: TextIO) -> None:
        self.has_colours = out.isatty() and "NO_COLOR" not in os.environ
        if self.has_colours and sys.platform == "win32":
            os.system("")  # makes an old console understand colours
        try:
            "".join(MARKS.values()).encode(getattr(out, "encoding", None) or "utf-8")
            self.marks = MARKS
        except (UnicodeEncodeError, LookupError):
            self.marks = PLAIN_MARKS

    def paint(self, colour: str, text: str) -> str:
        return f"\033[{COLOURS[colour]}m{text}\033[0m" if self.has_colours else text

    def mark(self, colour: str) -> str:
        return self.paint(colour, self.marks[colour])


def group(told: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The tests' accounts by exercise."""
    accounts: dict[str, list[dict[str, Any]]] = {}
    for one in told:
        accounts.setdefault(one["exercise"], []).append(one)
    return accounts


def state_of(told: Sequence[Account]) -> str:
    """One exercise as a whole: "good", "bad", "open" when it is not written yet, or "unknown"."""
    if not told:
        return "unknown"
    verdicts = {one["verdict"] for one in told}
    if "unwritten" in verdicts:
        return "open"
    return "good" if verdicts == {"passed"} else "bad"


def points_of(told: Sequence[Account]) -> float:
    """The public points of one exercise; one that is not yet written has none."""
    if state_of(told) == "open":
        return 0.0
    return sum(one["points"] for one in told if one["verdict"] == "passed")


def describe(
    exercise: Exercise, told: Sequence[Account], style: Style, shaky: Sequence[int] = ()
) -> list[str]:
    """Say in a few lines what holds in one exercise and what does not.

    Every test has its line; what is wrong is told of the first one that fails. `shaky` are
    the numbers of the exercises that this one builds on and that are not right.
    """
    lines = [headline(exercise, told, style)]
    if state_of(told) == "open":
        return lines
    failed = [one for one in told if one["verdict"] != "passed"]
    if len(failed) == len(told) > 1 and all(one["lines"] == failed[0]["lines"] for one in told):
        first, *rest = details(failed[0], style)
        lines += [f"   {style.mark('bad')} {first}", *(f"     {line}" for line in rest)]
        told = []
    for one in told:
        kind = {"passed": "good", "waits": "open"}.get(one["verdict"], "bad")
        lines.append(f"   {style.mark(kind)} {one['title']}")
        if failed and one is failed[0]:
            lines += [f"       {line}" for line in details(one, style)]
    if shaky and failed:
        numbers = " and ".join(map(str, shaky))
        lines.append(
            f"   This may come from exercise {numbers}, which it builds on. When it is graded, it "
            "is judged again with right answers there, and the better result counts."
        )
    return lines


def shaky_below(
    exercise: Exercise, exercises: Sequence[Exercise], accounts: Mapping[str, Sequence[Account]]
) -> list[int]:
    """The numbers of the exercises that one builds on and that are known not to be right."""
    return [
        other["number"]
        for other in exercises
        if other["id"] in exercise["uses"] and state_of(accounts.get(other["id"], [])) in WRONG
    ]


def headline(exercise: Exercise, told: Sequence[Account], style: Style) -> str:
    """One line about one exercise."""
    state = state_of(told)
    result = f"{points_of(told):g} of {exercise['public_points']} public points"
    if state == "open":
        result = "not yet written"
    title = style.paint("bold", f"{exercise['number']}. {exercise['title']}")
    return f"{title}  {exercise['file']}  {style.paint(state, result)}"


def details(one: Account, style: Style) -> list[str]:
    """What is wrong, the question that leads on, and what was printed meanwhile."""
    lines = list(one["lines"])
    if one["question"]:
        lines.append(style.paint("bold", f"? {one['question']}"))
    if one["printed"]:
        lines.append("It printed:")
        lines += [f"  {style.paint('faint', line)}" for line in one["printed"]]
    return lines


def conclude(
    exercises: Sequence[Exercise], accounts: Mapping[str, Sequence[Account]], style: Style
) -> Iterator[str]:
    """Yield what stands at the end: the sum, what is still to come, and the next step."""
    asked = [exercise for exercise in exercises if exercise["id"] in accounts]
    got = sum(points_of(accounts[exercise["id"]]) for exercise in asked)
    most = sum(float(exercise["public_points"]) for exercise in asked)
    yield f"Public tests: {got:g} of {most:g} points."
    tests = sum(exercise["hidden_tests"] for exercise in asked)
    points = sum(float(exercise["hidden_points"]) for exercise in asked)
    shares = [f"{e['hidden_tests']} for {e['hidden_points']}" for e in asked]
    each = f" ({', '.join(shares)})" if len(asked) > 1 else ""
    yield (
        f"Still to come: {tests} hidden tests for {points:g} more points{each}, "
        "when your work is graded."
    )
    following = next_step(asked, accounts)
    if following is None:
        yield style.paint("good", "All public tests hold.") + MORE
        return
    is_open = state_of(accounts[following["id"]]) == "open"
    what = f"{', '.join(following['writes'])} in " if is_open else ""
    yield f"Next: {what}{following['file']}"


def next_step(
    exercises: Sequence[Exercise], accounts: Mapping[str, Sequence[Account]]
) -> Exercise | None:
    """The first exercise that is not done, in order."""
    for exercise in exercises:
        if exercise["id"] in accounts and state_of(accounts[exercise["id"]]) != "good":
            return exercise
    return None
