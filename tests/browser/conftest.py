"""A class's pages as files, and a real Chromium to open them with.

It needs `tests/browser/requirements.lock` and a Chromium (`apt-get install chromium`). Where one
is missing these tests are skipped, and say so; in CI that is an error.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from demo_kit import make_kit

from autograder import results
from autograder.assignment import Assignment
from autograder.lookalikes import Group, Lookalikes, Pair
from autograder.pictures import Image, Panel, Picture
from autograder.report import (
    ClassFacts,
    Row,
    make_feedback,
    render_feedback_html,
    render_overview,
)
from autograder.results import Diagnosis, Result, TestResult

FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()
EVIL = "<img src=x onerror=alert(1)> </script><script>alert(2)</script> {{7*7}} \"'`x`"
EVIL_NAME = "Zoë <b onclick=alert(3)>Łuk &amp; '\"sons"
STUDENTS = [*(f"student{n:02}" for n in range(42)), EVIL_NAME.replace("/", "_"), "absent", "broken"]


def make_result(demo: Assignment, student: str, number: int) -> Result:
    """Make a result; which tests are passed depends on `number`."""
    tests = []
    for place, (name, exercise, points) in enumerate(
        [("a", "layer", "2.5"), ("b", "layer", "5"), ("c", "block", "2.5")]
    ):
        verdict = ("passed", "failed", "raised")[(number >> (2 * place)) % 3]
        tests.append(
            TestResult(
                id=f"{exercise}::test_{name}",
                exercise=exercise,
                title=f"The {name} of every `x` is right",
                visibility="hidden" if name == "b" else "public",
                verdict=verdict,
                points=points if verdict == "passed" else "0",
                max_points=points,
                message="" if verdict == "passed" else f"Look at line {number}:\n    {EVIL}",
                staff_message="for staff only",
            )
        )
    graded = student != "broken"
    maxima = {exercise.id: exercise.points for exercise in demo.exercises}
    wrong = [test for test in tests if test.verdict != "passed"]
    said = Diagnosis(exercise="layer", faults=[f"fault_{number % 4}"], text=f"It is {EVIL}.")
    return Result(
        assignment="demo",
        student=student,
        status="graded" if graded else "ungradable",
        reason="" if graded else EVIL,
        score=results.sum_points(test.points for test in tests) if graded else None,
        max_score=demo.points,
        exercises=results.score_exercises(maxima, tests, is_published=graded),
        tests=tests if graded else [],
        diagnosis=[said] if graded and wrong else [],
        carried_forward=["block"] if number % 5 == 0 else [],
        flags=["uses_something"] if number % 7 == 0 else [],
        isolation="full" if number % 9 else "process",
        digest="",
    )


def make_picture() -> Picture:
    yours = Image(rows=3, columns=4, levels=bytes([0, 1, 128, 255] * 3))
    right = Image(rows=3, columns=4, levels=bytes([1, 1, 128, 255] * 3))
    panels = [Panel(title=f"head {n}: {EVIL}", yours=yours, expected=right) for n in range(3)]
    return Picture(
        exercise="layer", title="Where heads look", caption=EVIL, rows="asking", columns="asked",
        low=-1.0, high=1.0, panels=panels,
    )  # fmt: skip


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output folder of a class of 45, hostile in names and messages."""
    demo = make_kit(tmp_path_factory.mktemp("kit"))
    out = tmp_path_factory.mktemp("out")
    rows, records = [], []
    for number, student in enumerate(STUDENTS):
        result = None if student == "absent" else make_result(demo, student, number)
        rows.append(Row(student, result, late="2 days" if number % 6 == 0 else ""))
        record = {"student": student, "original": EVIL, "origin": f"class/{student}"}
        records.append(record | {"files": {"layer.py": 9}, "notes": [EVIL], "certainty": "likely"})
        if result is not None:
            feedback = make_feedback(result, demo, [EVIL], [make_picture()])
            (out / student).mkdir()
            page = render_feedback_html(feedback)
            (out / student / "feedback.html").write_text(page, encoding="utf-8")
    group = Group("layer.py", tuple(STUDENTS[:9]))
    pair = Pair("block.py", (STUDENTS[1], EVIL_NAME), 12, 0.8, 7.0)
    facts = ClassFacts(
        intake={
            "source": EVIL,
            "submissions": records,
            "left_out": [{"path": EVIL, "reason": EVIL}],
        },
        seconds={student: 0.1 * n for n, student in enumerate(STUDENTS)},
        outdated=[STUDENTS[3]],
        lookalikes=Lookalikes([group], [pair]),
    )
    (out / "report.html").write_text(render_overview(demo, rows, facts), encoding="utf-8")
    return out


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    def give_up(reason: str) -> None:
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)

    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        give_up("no Playwright: .venv/bin/pip install -r tests/browser/requirements.lock")
    chromium = shutil.which("chromium")
    if chromium is None:
        give_up("no Chromium: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


Open = Callable[..., Any]


@pytest.fixture
def open_page(browser: Any, folder: Path) -> Iterator[Open]:
    """Opens a page; nothing may have been asked for, complained of or popped up in the end."""
    contexts = []
    complaints: list[str] = []
    requests: list[str] = []

    def open_page(name: str, *, width: int = 1280, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": 844}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda message: complaints.append(message.text))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((folder / name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    inside = ("file://", "data:")
    assert [url for url in requests if not url.startswith(inside)] == []
    assert complaints == []
