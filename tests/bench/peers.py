"""The same submissions through nbgrader and otter-grader, natively, and through the kit.

Each of them is compared with what the kit took just before and just after: machines have moods.
Their assignments are built from ours, with all of our tests. Forgeries are notebooks with nothing
written but a cell that tampers; one succeeds where it earns more than the bare template.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bench.speed import grade

Row = tuple[str, str]
STUDENTS, TIMES = 6, 34  # notebooks for the peers; for us each of them so often, a class of 200


def report(assignment_id: str) -> Iterator[Row]:
    """Seconds per submission of each, and how many forgeries each believes."""
    if not (importlib.util.find_spec("nbgrader") and importlib.util.find_spec("otter")):
        yield "not measured", "nbgrader and otter-grader are not installed: make setup-platforms"
        return
    from platforms import handed_in, pages

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pages.succeed(f"autograder release {assignment_id} --out dist/{assignment_id}", folder)
        build, mark = pages.read_blocks("nbgrader", "From zero to marks")
        pages.succeed(build, folder)
        handed_out = handed_in.read(folder / "course/release/attention/attention.ipynb")
        class_ = _repeat(handed_in.hand_in(handed_out))
        for turn in range(TIMES):
            for student, notebook in class_.items():
                handed_in.write(notebook, folder / f"ours/{student}-{turn}/attention.ipynb")
        ours = [_time_ours(assignment_id, folder)]
        for student, notebook in class_.items():
            handed_in.write(
                notebook, folder / f"course/submitted/{student}/attention/attention.ipynb"
            )
        seconds = _time(lambda: pages.succeed("nbgrader autograde attention", folder / "course"))
        ours.append(_time_ours(assignment_id, folder))
        yield _compare("nbgrader autograde", seconds / STUDENTS, ours[-2:], 30)

        theirs = handed_in.read(folder / "dist/attention/otter/dist/student/attention.ipynb")
        for student, notebook in _repeat(handed_in.hand_in(theirs)).items():
            handed_in.write(notebook, folder / f"otter-{student}" / "submission.ipynb")
        seconds = _time(lambda: [_otter(pages, folder, f"otter-{student}") for student in class_])
        ours.append(_time_ours(assignment_id, folder))
        yield _compare("otter run", seconds / STUDENTS, ours[-2:], 80)
        shown = ", ".join(f"{seconds:.3f}" for seconds in ours)
        yield "autograder grade, seconds per submission: before, between and after", shown

        yield from _forge(assignment_id, handed_out, theirs, folder, handed_in, pages)


def _repeat(notebooks: dict[str, Any]) -> dict[str, Any]:
    """A class of these, in turns."""
    each = list(notebooks.values())
    return {f"student{n}": each[n % len(each)] for n in range(STUDENTS)}


def _compare(name: str, seconds: float, ours: Sequence[float], target: int) -> Row:
    times = seconds / statistics.mean(ours)
    text = f"{seconds:.2f}, {times:.0f} times ours (target: at least {target})"
    return f"{name}, seconds per submission", text


def _time(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def _time_ours(assignment_id: str, folder: Path) -> float:
    """The same notebooks, enough of them that starting up is what it is for a class."""
    return grade(assignment_id, folder / "ours", folder / "marks").seconds / (TIMES * STUDENTS)


def _otter(pages: Any, folder: Path, name: str) -> float:
    """Run otter on one notebook; its score."""
    run = "otter run --autograder dist/attention/otter/dist/autograder/attention-autograder_*.zip"
    pages.succeed(f"{run} --output-dir {name} {name}/submission.ipynb", folder)
    found = json.loads((folder / name / "results.json").read_bytes())
    return float(sum(test.get("score", 0) for test in found["tests"]))


def _forge(
    assignment_id: str, handed_out: Any, theirs: Any, folder: Path, handed_in: Any, pages: Any
) -> Iterator[Row]:
    forgeries = {"hook": handed_in.INPUT_HOOK, "run": handed_in.RUN_METHOD}
    names = [*forgeries, "bare"]

    def forge(notebook: Any, name: str) -> Any:
        return handed_in.with_first_cell(notebook, forgeries.get(name, "pass"))

    for name in names:
        ours = forge(handed_out, name)
        handed_in.write(ours, folder / f"course/submitted/{name}/attention/attention.ipynb")
        handed_in.write(ours, folder / "forged" / name / "attention.ipynb")
        handed_in.write(forge(theirs, name), folder / f"otter-{name}" / "submission.ipynb")
    pages.run("nbgrader autograde attention; nbgrader export --to grades.csv", folder / "course")
    with open(folder / "course" / "grades.csv", newline="", encoding="utf-8") as file:
        nbgrader = {row["student_id"]: float(row["score"] or 0) for row in csv.DictReader(file)}
    otter = {name: _otter(pages, folder, f"otter-{name}") for name in names}
    grade(assignment_id, folder / "forged", folder / "judged")
    judged = {
        name: float(json.loads((folder / "judged" / name / "result.json").read_bytes())["score"])
        for name in names
    }
    for name, marks in (("nbgrader", nbgrader), ("otter-grader", otter), ("the kit", judged)):
        believed = [forgery for forgery in forgeries if marks[forgery] > marks["bare"]]
        best = max(marks[forgery] for forgery in forgeries)
        yield f"forgeries that {name} believes", f"{len(believed)} of 2, up to {best:g} points"
