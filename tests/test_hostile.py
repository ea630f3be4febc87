"""Does the boundary hold? Every hostile case of the gallery, through the real engine.

A case is wrong in what it attacks, so points there beyond those of the same wrong code without
the attack are forged. `case.toml` says what it may earn and which traces must not exist:

    [earns]    <exercise> = "nothing" | "as written" | "all"
    [effects]  files      paths that must not exist; {home}, {kit}, {prefix}, {purelib} are known
               processes  names that no process may bear once the worker is gone
               words      must not be in what a student is told about a hidden test
               secrets    must not be in anything that is told, to staff neither
               passed     tests that must not be passed

"As written" is measured on `<case>/plain/<file>` where there is one, else on `plain/<file>`.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import sys
import sysconfig
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from decimal import Decimal
from html.parser import HTMLParser
from pathlib import Path

import hostile_uploads
import msgspec
import pytest
from demo_kit import make_kit, write_files
from waiting import find_processes, wait_until

from autograder import assignment as assignments
from autograder import expectation, gallery, grading, pool, results
from autograder.assignment import Assignment, Limits
from autograder.intake import Submission
from autograder.intake.matching import pick_files
from autograder.intake.tree import Folder
from autograder.report import make_feedback, render_feedback_html, render_feedback_md
from autograder.results import Judgement, TestResult

KIT = Path(__file__).resolve().parent.parent
HOSTILE = KIT / "solutions" / "attention" / "gallery" / "hostile"
CASES = sorted(path.parent.name for path in HOSTILE.glob("*/case.toml"))
PLAIN = "plain"
# Long enough for every honest test many times over, short enough to wait for the endless ones.
LIMITS = Limits(
    import_wall_seconds=2,
    test_wall_seconds=1,
    cpu_seconds=20,
    memory_mib=1024,
    processes=64,
    file_mib=64,
)


@dataclass
class Run:
    """One class of hostile submissions, and what it did to the grader."""

    assignment: Assignment
    isolation: str = ""
    judgements: dict[str, Judgement] = field(default_factory=dict)
    errors: dict[str, BaseException] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    before: dict[int, tuple[int, int]] = field(default_factory=dict)
    after: dict[int, tuple[int, int]] = field(default_factory=dict)
    left: dict[str, list[str]] = field(default_factory=dict)


@pytest.fixture(scope="module")
def run() -> Run:
    """All cases at once, between two right submissions; without sandbox: not here."""
    real_load = assignments.load
    run = Run(msgspec.structs.replace(real_load("attention"), limits=LIMITS))
    for case in CASES:
        for path in find_paths(case):
            path.unlink(missing_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignments, "load", lambda *_: run.assignment)
        judges = pool.start("attention", 3)
        try:
            run.isolation = judges.isolation
            if judges.isolation != "full":
                pytest.skip("what hostile code does outside of a sandbox is not tried out")
            judge_all(run, judges)
        finally:
            judges.close()
    for case in CASES:
        effects = read_case(case).effects
        traces = [str(path) for path in find_paths(case) if path.exists()]
        traces += [name for name in effects.get("processes", []) if is_alive(name)]
        run.left[case] = traces
    return run


def judge_all(
    run: Run, judges: pool.Pool, cases: Sequence[str] = CASES, *, is_whole: bool = True
) -> None:
    """Judges the cases between right submissions, and the wrong code that each is made of.

    Where it is not whole, nothing is drawn, and a case is judged in what it is about only.
    """
    started = time.monotonic()

    def submit(name: str, folder: Folder, exercises: Collection[str] = ()) -> Future[Judgement]:
        files = pick_files(folder, run.assignment).files
        future = judges.submit(files, exercises, draws=is_whole)
        future.add_done_callback(
            lambda _: run.seconds.update({name: round(time.monotonic() - started, 2)})
        )
        return future

    def collect(futures: dict[str, Future[Judgement]]) -> None:
        for name, future in futures.items():
            try:
                run.judgements[name] = future.result(timeout=900)
            except Exception as error:
                run.errors[name] = error

    reference = gallery.read_reference(run.assignment)
    collect({f"right {n}": submit(f"right {n}", reference) for n in range(4)})
    run.before = measure()
    plain = {name: make_plain(folder, run.assignment) for name, folder in list_plain().items()}
    futures = {name: submit(name, folder) for name, folder in plain.items()}
    for case in cases:
        folder = gallery.read_case(HOSTILE / case, reference)
        futures[case] = submit(case, folder, () if is_whole else list_exercises(case))
    collect(futures)
    collect({f"late {n}": submit(f"late {n}", reference) for n in range(4)})
    run.after = measure()


def list_exercises(case: str) -> set[str]:
    """The exercises that a case says something about."""
    declared = read_case(case)
    about = {test.split("::")[0] for test in declared.effects.get("passed", [])}
    return {*declared.earns, *about}


def list_plain() -> dict[str, Path]:
    """The wrong code without attacks: for each exercise, and for cases with code of their own."""
    folders = {PLAIN: HOSTILE / PLAIN}
    folders |= {f"{PLAIN} {case}": HOSTILE / case / PLAIN for case in CASES}
    return {name: folder for name, folder in folders.items() if folder.is_dir()}


def make_plain(folder: Path, assignment: Assignment) -> Folder:
    own = [gallery.make_file(path) for path in sorted(folder.glob("*.py"))]
    names = {file.name for file in own}
    below = [f for f in gallery.read_reference(assignment).files if f.name not in names]
    return Folder(PLAIN, files=[*own, *below])


def read_case(case: str) -> expectation.Case:
    return expectation.read_case(HOSTILE / case)


def find_paths(case: str) -> list[Path]:
    places = {
        "home": str(Path.home()),
        "kit": str(KIT),
        "prefix": sys.prefix,
        "purelib": sysconfig.get_path("purelib"),
    }
    return [Path(path.format(**places)) for path in read_case(case).effects.get("files", [])]


def is_alive(name: str) -> bool:
    """Whether a process of that name is there and stays."""
    return not wait_until(lambda: find_processes(name) == [])


def measure() -> dict[int, tuple[int, int]]:
    """Descriptors and threads of this process and of those it started: judges and zygotes."""
    found = {}
    for pid in [_own(), *_children(_own())]:
        with contextlib.suppress(OSError):
            descriptors = len(list(Path(f"/proc/{pid}/fd").iterdir()))
            found[pid] = (descriptors, len(list(Path(f"/proc/{pid}/task").iterdir())))
    return found


def _own() -> int:
    return int(Path("/proc/self").readlink().name)


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for task in tasks for child in _read(task).split()]


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def passed(judgement: Judgement, exercise: str) -> set[str]:
    mine = [test for test in judgement.tests if test.exercise == exercise]
    return {test.id for test in mine if test.points}


# --- each case --------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_no_points_are_forged(run: Run, case: str) -> None:
    assert read_case(case).earns, "a hostile case says what it may earn"
    check_points(run, case)


def check_points(run: Run, case: str) -> None:
    judgement, declared = judgement_of(run, case), read_case(case)
    for exercise, earns in declared.earns.items():
        got = passed(judgement, exercise)
        if earns == "nothing":
            assert got == set()
        elif earns == "as written":
            own = f"{PLAIN} {case}" in run.judgements
            written = run.judgements[f"{PLAIN} {case}" if own else PLAIN]
            assert got - passed(written, exercise) == set()
        else:
            assert earns == "all", f"{earns!r} is no word for what a case may earn"
    forbidden = set(declared.effects.get("passed", []))
    assert forbidden <= {test.id for test in judgement.tests}, "there is no such test"
    assert {test.id for test in judgement.tests if test.points} & forbidden == set()


@pytest.mark.parametrize("case", CASES)
def test_others_exercises_are_not_harmed(run: Run, case: str) -> None:
    """What one file does costs no points in the exercises whose files are right."""
    judgement, right = judgement_of(run, case), run.judgements["right 0"]
    for exercise in run.assignment.exercises:
        if exercise.id not in read_case(case).earns:
            assert passed(judgement, exercise.id) == passed(right, exercise.id)


@pytest.mark.parametrize("case", CASES)
def test_the_verdicts_are_those_declared(run: Run, case: str) -> None:
    judgement, declared = judgement_of(run, case), read_case(case)
    verdicts = {test.id: test.verdict for test in judgement.tests}
    assert "grader_error" not in verdicts.values(), [
        (test.id, test.staff_message) for test in judgement.tests if test.verdict == "grader_error"
    ]
    if declared.verdicts:
        assert expectation.compare(declared, judgement) == []


@pytest.mark.parametrize("case", CASES)
def test_nothing_is_left_behind(run: Run, case: str) -> None:
    judgement_of(run, case)
    assert run.left[case] == []


@pytest.mark.parametrize("case", CASES)
def test_nothing_secret_is_told(run: Run, case: str) -> None:
    check_words(judgement_of(run, case), case)


def check_words(judgement: Judgement, case: str) -> None:
    effects = read_case(case).effects
    for test in judgement.tests:
        if test.visibility == "hidden":
            assert [w for w in effects.get("words", []) if w in test.message] == [], test.message
        told = test.message + test.staff_message
        assert [w for w in effects.get("secrets", []) if w in told] == [], told


@pytest.mark.parametrize("case", CASES)
def test_reports_are_made_and_escape_everything(run: Run, case: str) -> None:
    judgement = judgement_of(run, case)
    submission = Submission(student=case, original=case, origin=case, files={})
    result = grading.make_result(run.assignment, submission, "0" * 64, judgement)
    assert result.status == "graded", result.reason
    feedback = make_feedback(result, run.assignment, [])
    pages = [render_feedback_html(feedback), render_feedback_md(feedback)]
    pages.append(results.encode(result).decode("utf-8"))
    for page in pages:
        page.encode("utf-8")
        assert not any(ord(char) < 32 and char not in "\n\t" for char in page)
        assert not set(page) & set("\x7f\x9b\x9d\u202e\u2066\u2028\ud800")
    spy = TagSpy()
    spy.feed(pages[0])
    assert not spy.found & {"img", "iframe", "object", "embed", "form", "base"}
    assert not any(
        word in script for script in spy.scripts for word in ("forged", "alert", "beacon")
    )
    assert find_markup(pages[1]) == []


def judgement_of(run: Run, case: str) -> Judgement:
    if case in run.errors:
        raise AssertionError("the judge itself failed") from run.errors[case]
    return run.judgements[case]


# --- the whole --------------------------------------------------------------------------------


def test_there_are_cases_of_every_class_that_code_can_belong_to() -> None:
    """The others are shapes of uploads, or things that a course does after grading."""
    covered = {attack for case in CASES for attack in read_case(case).attacks}
    of_uploads, of_the_course = {"A23", "A26", "A27"}, {"A36", "A39"}
    known = {f"A{number}" for number in range(1, 41)}
    assert covered <= known
    assert known - covered - of_uploads - of_the_course == set()
    assert len(CASES) >= 70


def test_right_submissions_are_judged_the_same_before_and_after(run: Run) -> None:
    first = msgspec.structs.replace(run.judgements["right 0"], seconds=0)
    assert all(test.verdict == "passed" for test in first.tests)
    assert sum(test.points for test in first.tests) == run.assignment.points
    for name in [f"right {n}" for n in range(1, 4)] + [f"late {n}" for n in range(4)]:
        assert msgspec.structs.replace(run.judgements[name], seconds=0) == first, name


def test_judges_and_sandbox_live_on_and_hold_no_more_than_before(run: Run) -> None:
    assert run.after.keys() == run.before.keys(), "a judge or the zygote died"
    for pid, (descriptors, threads) in run.before.items():
        # A judge that diagnoses maps the fault tables, once: 69 files today. A descriptor lost
        # with each worker would be several times that.
        assert run.after[pid][0] <= descriptors + 80
        assert run.after[pid][1] <= threads + 1


# --- uploads ----------------------------------------------------------------------------------


class InstantPool:
    """Judges by looking, so that only intake, grading and reports are at work here."""

    isolation = "process"
    jobs = 2

    def __init__(self) -> None:
        self.seen: list[dict[str, bytes]] = []

    def submit(self, files: dict[str, bytes], exercises: object = ()) -> Future[Judgement]:
        self.seen.append(files)
        tests = []
        for exercise, points in (("layer", "7.5"), ("block", "2.5")):
            is_right = b"class" in files.get(f"{exercise}.py", b"")
            tests.append(
                TestResult(
                    id=f"{exercise}::test_it",
                    exercise=exercise,
                    title="It works",
                    visibility="hidden",
                    verdict="passed" if is_right else "failed",
                    points=Decimal(points if is_right else "0"),
                    max_points=Decimal(points),
                )
            )
        future: Future[Judgement] = Future()
        future.set_result(Judgement(tests=tests, isolation="process"))
        return future

    def stop(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Graded:
    """A class with one attack in it, graded."""

    out: Path
    seen: list[dict[str, bytes]]
    entries: list[str]
    seconds: float


def grade_upload(tmp_path: Path, write: hostile_uploads.Upload, source: str = "class") -> Graded:
    kit = make_kit(tmp_path / "kit")
    secret = f"class Layer: word = {hostile_uploads.SECRET!r}\n"
    write_files(tmp_path / "secret", {"layer.py": secret})
    folder = write_files(tmp_path / "class", {"zoe/layer.py": hostile_uploads.LAYER})
    entries = write(folder)
    judges, started = InstantPool(), time.monotonic()
    summary = grading.grade_class(
        kit, tmp_path / source, tmp_path / "out", start=lambda *_: judges, jobs=2
    )
    assert summary.exit_code == 0
    return Graded(tmp_path / "out", judges.seen, entries, time.monotonic() - started)


@pytest.fixture(params=sorted(hostile_uploads.UPLOADS))
def graded(request: pytest.FixtureRequest, tmp_path: Path) -> Graded:
    before = {path for path in (Path("/tmp"), KIT, tmp_path.parent) for path in path.iterdir()}
    done = grade_upload(tmp_path, hostile_uploads.UPLOADS[request.param])
    after = {path for path in (Path("/tmp"), KIT, tmp_path.parent) for path in path.iterdir()}
    made = {path for path in after - before if "forged" in path.name or path.parent != Path("/tmp")}
    assert made == set(), "something was written outside of the output folder"
    assert {path.name for path in tmp_path.iterdir()} == {"kit", "secret", "class", "out"}
    return done


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")
def test_uploads_harm_nobody(graded: Graded, tmp_path: Path) -> None:
    """Each attack alone in a class with zoe: all are accounted for, and zoe gets her points."""
    assert graded.seconds < 20
    check_reports(graded)
    intake = json.loads((graded.out / "intake.json").read_text(encoding="utf-8"))
    found = {submission["student"]: submission for submission in intake["submissions"]}
    assert len(found) + len(intake["left_out"]) >= len(graded.entries) + 1
    result = results.decode((graded.out / "zoe" / "result.json").read_bytes())
    assert (str(result.score), result.status) == ("7.5", "graded")
    alone = grade_upload(tmp_path / "alone", lambda _: [])
    for name in ("result.json", "feedback.md", "feedback.html"):
        assert (graded.out / "zoe" / name).read_bytes() == (alone.out / "zoe" / name).read_bytes()
    for student, submission in found.items():
        folder = graded.out / student
        assert folder.parent == graded.out and (folder / "result.json").is_file()
        assert submission["files"] or submission["ungradable"]
    secret = hostile_uploads.SECRET.encode()
    assert not any(secret in data for files in graded.seen for data in files.values())
    written = [path for path in graded.out.rglob("*") if path.is_file()]
    assert not any(secret in path.read_bytes() for path in written)
    for files in graded.seen:
        assert set(files) <= {"layer.py", "block.py"}
        assert all(len(data) <= 4 << 20 for data in files.values())
        assert all(data.decode("utf-8") is not None for data in files.values())


def test_names_in_the_archive_of_a_class_are_only_names(tmp_path: Path) -> None:
    """Archives can hold names that no folder can: longer, empty, with NUL, leading out."""
    names = [
        *hostile_uploads.NAMES.values(),
        "a" * 300,
        "zoe\0",
        "../../eve",
        "/etc",
        "C:",
        " ",
        "a/../b",
    ]

    def write(folder: Path) -> list[str]:
        members = [(f"{name}/layer.py", hostile_uploads.LAYER) for name in names]
        members.append(("zoe/layer.py", hostile_uploads.LAYER))
        return hostile_uploads.one(folder.parent, "class.zip", hostile_uploads.make_zip(members))

    graded = grade_upload(tmp_path, write, "class.zip")
    check_reports(graded)
    assert (graded.out / "zoe" / "result.json").is_file()
    intake = json.loads((graded.out / "intake.json").read_text(encoding="utf-8"))
    assert len(intake["submissions"]) + len(intake["left_out"]) >= len(hostile_uploads.NAMES) - 4
    assert {path.name for path in tmp_path.iterdir()} == {
        "kit",
        "secret",
        "class",
        "class.zip",
        "out",
    }


def check_reports(graded: Graded) -> None:
    """Names and reasons of uploads are harmless wherever they are written."""
    assert not any(path.is_symlink() for path in graded.out.rglob("*"))
    for path in graded.out.rglob("*"):
        assert path.name.isprintable() and not path.name.startswith(("-", ".", "=", "+", "@"))
        assert len(os.fsencode(path.name)) <= 255
    for page in graded.out.rglob("*.html"):
        spy = TagSpy()
        spy.feed(page.read_text(encoding="utf-8"))
        assert not spy.found & {"img", "iframe", "object", "embed", "form", "base"}, page
        assert not any("alert(" in script for script in spy.scripts)
    for text in [
        path.read_text(encoding="utf-8") for path in graded.out.rglob("*") if path.is_file()
    ]:
        assert not any(ord(char) < 32 and char not in "\n\t" for char in text)
        assert not set(text) & set("\x7f\x9b\x9d\u202e\u2066")
    for note in graded.out.rglob("*.md"):
        text = note.read_text(encoding="utf-8")
        assert find_markup(text) == []
    with (graded.out / "grades.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.reader(stream))
    assert len({len(row) for row in rows}) == 1
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for row in rows for cell in row)


def find_markup(text: str) -> list[str]:
    """What Markdown would take for elements, pictures and links, outside of code."""
    text = re.sub(r"^(`{3,})text$.*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\\[!-/:-@\[-`{-~]", "", text)
    text = re.sub(r"(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)", "", text)
    return re.findall(r"<[a-z/!][^\n]*|\]\([^\n]*|https?://[^\n]*", text)


class TagSpy(HTMLParser):
    """Notes which elements a page has, and what its scripts and event handlers say."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(tag)
        self.scripts += [value or "" for name, value in attrs if name.startswith("on")]
        self.scripts += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script":
            self.scripts.append(data)
