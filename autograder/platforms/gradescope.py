"""Gradescope: a submission in, results.json out.

The format is that of gradescope/autograder_samples, docs/specs.md and docs/submission_metadata.md.
Hidden tests are shown after grades are published. What is for staff goes to standard output, which
students do not see; nothing of it is in results.json, which later submissions are given.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from autograder import results
from autograder.assignment import Assignment, list_assignments, load
from autograder.cells import name_cells
from autograder.errors import KitError
from autograder.intake.disk import read_folder
from autograder.lateness import read_time
from autograder.platforms.judging import judge_folder, say
from autograder.report.escaping import escape_markdown, fence
from autograder.results import Result, TestResult, format_points
from autograder.storage import write_whole

SHOWN = {"public": "visible", "hidden": "after_published"}
MAX_TEXT = 20_000  # of one test; Gradescope cuts at 100,000


@dataclass
class Circumstances:
    """What submission_metadata.json says: how late, and which attempt."""

    late: str = ""
    attempt: int = 1
    submitters: list[str] = field(default_factory=list)


def run(root: Path) -> list[str]:
    """Grade what lies in `root/submission`, write `root/results/results.json`.

    Returns:
        Remarks for staff.

    Raises:
        KitError: the grader is at fault; there are no results, so Gradescope shows that it failed.
    """
    began = time.monotonic()
    assignment = _only_assignment(root / "source")
    circumstances = read_circumstances(root / "submission_metadata.json")
    folder = read_folder(root / "submission")
    result = judge_folder(assignment, "submission", folder)
    if result.status == "grader_error":
        raise KitError(f"the submission was not graded: {result.reason}")
    rendered = render(result, assignment, circumstances, time.monotonic() - began)
    (root / "results").mkdir(exist_ok=True)
    data = json.dumps(rendered, indent=1, ensure_ascii=False).replace("\\u0000", "") + "\n"
    write_whole(root / "results" / "results.json", data.encode("utf-8", "replace"))
    lines = [f"isolation: {result.isolation or 'nothing was run'}"]
    lines += [f"{t.id}: {t.verdict}: {t.staff_message}" for t in result.tests if t.staff_message]
    return lines


def _only_assignment(root: Path) -> Assignment:
    found = list_assignments(root)
    if len(found) != 1:
        raise KitError(f"{root} holds {len(found)} assignments; an autograder has one.")
    return load(found[0], root)


def read_circumstances(path: Path) -> Circumstances:
    """Read the metadata; what is not there or cannot be read is left out."""
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return Circumstances()
    if not isinstance(said, dict):
        return Circumstances()
    earlier = said.get("previous_submissions")
    users = said.get("users")
    return Circumstances(
        late=_describe_lateness(said),
        attempt=1 + (len(earlier) if isinstance(earlier, list) else 0),
        submitters=[
            str(user.get("email") or user.get("name") or user.get("id") or "")
            for user in (users if isinstance(users, list) else [])
            if isinstance(user, dict)
        ],
    )


def _describe_lateness(said: dict[str, Any]) -> str:
    set_up = said.get("assignment")
    due = read_time(str(set_up.get("due_date") or "")) if isinstance(set_up, dict) else None
    handed_in = read_time(str(said.get("created_at") or ""))
    if due is None or handed_in is None or (due.tzinfo is None) != (handed_in.tzinfo is None):
        return ""
    seconds = int((handed_in - due).total_seconds())
    if seconds <= 0:
        return ""
    days, rest = divmod(seconds, 86400)
    hours, minutes = divmod(rest // 60, 60)
    return f"{days} d {hours} h {minutes} min" if days else f"{hours} h {minutes} min"


def render(
    result: Result, assignment: Assignment, circumstances: Circumstances, seconds: float
) -> dict[str, Any]:
    """The content of results.json.

    Args:
        result: of the submission; `ungradable` is 0 points, and says why.
        assignment: what was asked.
        circumstances: how late, which attempt.
        seconds: that grading took.
    """
    return {
        "score": float(result.score or 0),
        "execution_time": round(seconds, 2),
        "output": _describe(result, assignment, circumstances),
        "output_format": "md",
        "test_output_format": "md",
        "test_name_format": "text",
        "stdout_visibility": "hidden",
        "tests": [_render_test(n, test, result) for n, test in enumerate(result.tests, 1)],
        "extra_data": {
            "result": _for_others(result),
            "late": circumstances.late,
            "attempt": circumstances.attempt,
            "submitters": circumstances.submitters,
        },
    }


def _render_test(number: int, test: TestResult, result: Result) -> dict[str, Any]:
    said = "\n".join(say(test, result)[1:])[:MAX_TEXT]
    output = fence(said) if said else ""
    return {
        "number": str(number),
        "name": test.title,
        "score": float(test.points),
        "max_score": float(test.max_points),
        "status": "passed" if test.verdict == "passed" else "failed",
        "output": output,
        "tags": [test.exercise],
        "visibility": SHOWN[test.visibility],
        "extra_data": {"verdict": test.verdict},
    }


def _describe(result: Result, assignment: Assignment, circumstances: Circumstances) -> str:
    """What a student reads at once: nothing of hidden tests but their number and points."""
    lines = [f"# {escape_markdown(assignment.title)}", ""]
    if result.status != "graded":
        return "\n".join([*lines, f"Not graded: {escape_markdown(result.reason)}"])
    lines += ["| exercise | public tests | hidden tests |", "|---|---|---|"]
    for exercise in assignment.exercises:
        mine = [test for test in result.tests if test.exercise == exercise.id]
        public = [test for test in mine if test.visibility == "public"]
        gained = format_points(results.sum_points(test.points for test in public))
        pending = format_points(exercise.points - exercise.public_points)
        lines.append(
            f"| {escape_markdown(exercise.title)}"
            f" | {gained} of {format_points(exercise.public_points)} points"
            f" | {len(mine) - len(public)} tests for {pending} points |"
        )
    lines += ["", f"Attempt {circumstances.attempt}. Isolation: {result.isolation}."]
    if circumstances.late:
        lines.append(f"Late by {circumstances.late}.")
    return "\n".join(lines)


def _for_others(result: Result) -> Any:
    """Our result as the submission's own code may come to read it: nothing that is for staff.

    Hidden tests go by the names of their grade cells.
    """
    tests = [
        msgspec.structs.replace(
            test, staff_message="", id=cell if test.visibility == "hidden" else test.id
        )
        for cell, test in name_cells(result.tests)
    ]
    return json.loads(results.encode(msgspec.structs.replace(result, tests=tests)))
