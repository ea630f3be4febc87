"""Grading a class: nothing lost, nothing graded twice, no fault of ours scored."""

import csv
import json
import os
import signal
import threading
from concurrent.futures import Future, ThreadPoolExecutor

import msgspec
import pytest
from demo_kit import BLOCK, LAYER, make_kit, write_files

from autograder import pictures, results
from autograder.errors import KitError, UnknownStudent
from autograder.grading import grade_class
from autograder.pictures import Image, Panel, Picture
from autograder.results import Judgement, TestResult

CLASS = {
    "ada/layer.py": LAYER,
    "ada/block.py": BLOCK,
    "bob/layer.py": b"raise SystemExit\n",
    "cleo/report.pdf": b"%PDF",
}


def judge(files: dict[str, bytes]) -> Judgement:
    """A test double of the judge: a file is right when it defines a class."""

    def test(exercise: str, visibility: str, points: str) -> TestResult:
        source = files.get(f"{exercise}.py")
        verdict = "missing" if source is None else "passed" if b"class" in source else "failed"
        if source is not None and b"ours" in source:
            verdict = "grader_error"
        return TestResult(
            id=f"{exercise}::test_{visibility}",
            exercise=exercise,
            title="It works",
            visibility=visibility,
            verdict=verdict,
            points=points if verdict == "passed" else "0",
            max_points=points,
            message="" if verdict == "passed" else "\x1b[31mno\x1b[0m",
            staff_message="got 3, expected 4",
        )

    tests = [test("layer", "public", "2.5"), test("layer", "hidden", "5")]
    tests.append(test("block", "hidden", "2.5"))
    return Judgement(tests=tests, isolation="process")


class FakePool:
    """A pool that judges with the double above, in threads, and counts."""

    def __init__(self, isolation="process", judge=judge):
        self.isolation, self.jobs = isolation, 2
        self.judge = judge
        self.seen: list[dict[str, bytes]] = []
        self.executor = ThreadPoolExecutor(2)
        self.starts = 0
        self.is_closed = False

    def __call__(self, assignment_id: str, jobs: int, isolation: str) -> "FakePool":
        self.starts += 1
        return self

    def submit(self, files: dict[str, bytes]) -> Future:
        self.seen.append(files)
        return self.executor.submit(self.judge, files)

    def stop(self) -> None: ...

    def close(self) -> None:
        self.is_closed = True
        self.executor.shutdown()


@pytest.fixture
def demo(tmp_path):
    return make_kit(tmp_path / "kit")


@pytest.fixture
def home(tmp_path):
    return write_files(tmp_path / "class", CLASS)


def run(demo, home, tmp_path, pool=None, **options):
    pool = pool or FakePool()
    summary = grade_class(demo, home, tmp_path / "out", start=pool, jobs=2, **options)
    return summary, pool


def read_rows(out):
    with (out / "grades.csv").open(encoding="utf-8", newline="") as stream:
        return {row["student"]: row for row in csv.DictReader(stream)}


def test_everything_is_written(demo, home, tmp_path):
    summary, pool = run(demo, home, tmp_path)
    out = tmp_path / "out"
    written = [path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()]
    assert sorted(written) == [
        *(f"{student}/{name}" for student in ("ada", "bob", "cleo")
          for name in ("feedback.html", "feedback.md", "result.json")),
        "digests.json", "grades.csv", "intake.json", "report.html", "timings.json",
    ]  # fmt: skip
    rows = read_rows(out)
    assert [rows[s]["score"] for s in ("MAXIMUM", "ada", "bob", "cleo")] == ["10", "10", "0", ""]
    assert rows["cleo"]["status"] == "ungradable"
    assert summary.exit_code == 0
    assert pool.is_closed
    assert json.loads((out / "intake.json").read_text())["submissions"][2]["student"] == "cleo"
    result = results.decode((out / "bob/result.json").read_bytes())
    assert result.tests[0].message == "no"


def test_a_second_run_judges_nothing_and_changes_nothing(demo, home, tmp_path):
    run(demo, home, tmp_path)
    out = tmp_path / "out"
    before = {path: path.read_bytes() for path in out.rglob("*.*") if path.name != "timings.json"}
    summary, pool = run(demo, home, tmp_path)
    assert pool.starts == 0
    assert summary.kept == ["ada", "bob"]
    assert {path: path.read_bytes() for path in before} == before


def test_fresh_grading_gives_the_same_bytes(demo, home, tmp_path):
    run(demo, home, tmp_path)
    before = (tmp_path / "out/ada/result.json").read_bytes()
    _, pool = run(demo, home, tmp_path, fresh=True)
    assert len(pool.seen) == 2
    assert (tmp_path / "out/ada/result.json").read_bytes() == before


@pytest.mark.parametrize(
    ("path", "count"),
    [
        ("class/ada/layer.py", 1),
        ("class/dan/layer.py", 1),
        ("kit/solutions/demo/tests/test_layer.py", 2),
        ("kit/assignments/demo/tests/test_layer.py", 2),
        ("kit/assignments/checking/comparison.py", 2),
        ("kit/solutions/demo/layer.py", 2),
        ("kit/solutions/demo/gallery/wrong/x/layer.py", 0),
    ],
)
def test_only_what_changed_is_judged_again(demo, home, tmp_path, path, count):
    run(demo, home, tmp_path)
    write_files(tmp_path, {path: LAYER + b"# changed\n"})
    _, pool = run(demo, home, tmp_path)
    assert len(pool.seen) == count


@pytest.mark.parametrize("damage", ["cut", "gone", "feedback", "renamed"])
def test_a_damaged_result_is_made_again(demo, home, tmp_path, damage):
    run(demo, home, tmp_path)
    path = tmp_path / "out/ada/result.json"
    before = path.read_bytes()
    if damage == "cut":
        path.write_bytes(before[:200])
    elif damage == "gone":
        path.unlink()
    elif damage == "feedback":
        (tmp_path / "out/ada/feedback.md").unlink()
    else:
        path.write_bytes((tmp_path / "out/bob/result.json").read_bytes())
    _, pool = run(demo, home, tmp_path)
    assert len(pool.seen) == 1
    assert path.read_bytes() == before


def test_only_one_student_and_the_others_still_listed(demo, home, tmp_path):
    run(demo, home, tmp_path)
    write_files(home, {"ada/layer.py": b"x = 1\n", "bob/layer.py": b"x = 2\n"})
    summary, pool = run(demo, home, tmp_path, only=["ada"])
    assert len(pool.seen) == 1
    assert summary.outdated == ["bob"]
    assert [row.student for row in summary.rows] == ["ada", "bob", "cleo"]
    with pytest.raises(UnknownStudent, match="did you mean ada"):
        run(demo, home, tmp_path, only=["adda"])


def test_who_left_the_class_leaves_the_grades(demo, home, tmp_path):
    run(demo, home, tmp_path)
    (home / "bob/layer.py").unlink()
    (home / "bob").rmdir()
    run(demo, home, tmp_path)
    assert "bob" not in read_rows(tmp_path / "out")
    assert (tmp_path / "out/bob/result.json").exists()


def test_a_fault_of_ours_publishes_no_score_and_is_tried_again(demo, home, tmp_path):
    write_files(home, {"ada/layer.py": b"class ours: pass\n"})
    summary, _ = run(demo, home, tmp_path)
    assert summary.exit_code == 2
    assert summary.failed == ["ada"]
    row = read_rows(tmp_path / "out")["ada"]
    assert (row["score"], row["status"], row["layer"]) == ("", "grader_error", "")
    assert "expected 4" not in (tmp_path / "out/ada/feedback.md").read_text()
    _, pool = run(demo, home, tmp_path)
    assert len(pool.seen) == 1


def test_a_judge_that_dies_costs_one_student_only(demo, home, tmp_path):
    def broken(files):
        if b"SystemExit" in files["layer.py"]:
            raise RuntimeError("the judge is gone")
        return judge(files)

    summary, _ = run(demo, home, tmp_path, FakePool(judge=broken))
    assert summary.failed == ["bob"]
    assert summary.exit_code == 2
    assert read_rows(tmp_path / "out")["ada"]["score"] == "10"


@pytest.mark.parametrize("pick", [slice(0, 2), slice(0, 0), [0, 1, 2, 1]])
def test_tests_that_do_not_add_up_are_a_fault_of_ours(demo, home, tmp_path, pick):
    def odd(files):
        tests = judge(files).tests
        chosen = tests[pick] if isinstance(pick, slice) else [tests[n] for n in pick]
        return Judgement(tests=chosen, isolation="full")

    summary, _ = run(demo, home, tmp_path, FakePool(judge=odd))
    assert summary.failed == ["ada", "bob"]
    assert "contradict the declaration" in summary.rows[0].result.reason


def test_too_little_isolation_is_refused_and_earlier_results_do_not_hide_it(demo, home, tmp_path):
    run(demo, home, tmp_path)
    with pytest.raises(KitError, match="bubblewrap"):
        run(demo, home, tmp_path, require_isolation="full")
    _, pool = run(demo, home, tmp_path, require_isolation="process")
    assert pool.starts == 0


def test_an_interruption_keeps_what_is_done_and_can_be_resumed(demo, home, tmp_path):
    write_files(home, {f"s{n:02}/layer.py": LAYER + b"# %d\n" % n for n in range(20)})
    gate = threading.Event()

    def interrupting(files):
        if not gate.is_set():
            gate.set()
            os.kill(os.getpid(), signal.SIGINT)
        return judge(files)

    earlier = signal.getsignal(signal.SIGINT)
    summary, first = run(demo, home, tmp_path, FakePool(judge=interrupting))
    assert signal.getsignal(signal.SIGINT) is earlier
    assert summary.exit_code == 130
    assert 0 < len(first.seen) < 20
    assert first.is_closed
    rows = read_rows(tmp_path / "out")
    assert sum(row["status"] == "pending" for row in rows.values()) == 22 - len(first.seen)
    again, second = run(demo, home, tmp_path)
    assert again.exit_code == 0
    assert len(first.seen) + len(second.seen) == 22


def test_two_runs_do_not_write_one_folder_at_once(demo, home, tmp_path):
    pytest.importorskip("fcntl")
    failures = []

    def nested(files):
        try:
            run(demo, home, tmp_path)
        except KitError as error:
            failures.append(str(error))
        return judge(files)

    run(demo, home, tmp_path, FakePool(judge=nested))
    assert "another run" in failures[0]


def test_an_output_that_cannot_be_written_is_named(demo, home, tmp_path):
    (tmp_path / "out").write_bytes(b"")
    with pytest.raises(KitError, match="--out"):
        run(demo, home, tmp_path)


def test_the_gallery_is_a_class(demo, tmp_path):
    write_files(
        demo.solution_dir / "gallery",
        {
            "right/plain/case.toml": 'title = "as it is"\n',
            "wrong/half/case.toml": 'title = "no block"\nremove = ["block.py"]\n',
            "wrong/half/layer.py": b"x = 1\n",
            "hostile/path/case.toml": 'title = "a conftest"\n',
            "hostile/path/conftest.py": b"raise SystemExit\n",
        },
    )
    write_files(demo.template_dir, {"layer.py": b"raise NotImplementedError\n"})
    summary, pool = run(demo, None, tmp_path)
    assert [row.student for row in summary.rows] == [
        "hostile-path", "reference", "right-plain", "template", "wrong-half",
    ]  # fmt: skip
    assert {tuple(files) for files in pool.seen} == {("layer.py", "block.py"), ("layer.py",)}
    assert {"layer.py": b"x = 1\n"} in pool.seen


def test_a_broken_case_is_named(demo, tmp_path):
    write_files(demo.solution_dir / "gallery/wrong/x", {"case.toml": "remove = 3\n"})
    with pytest.raises(KitError, match="remove is a list"):
        run(demo, None, tmp_path)


def timed(files):
    return msgspec.structs.replace(
        judge(files), seconds=1.5 if b"class" in files["layer.py"] else 9
    )


def read_timings(out):
    return json.loads((out / "timings.json").read_text())


def test_times_of_who_was_not_judged_again_stay(demo, home, tmp_path):
    out = tmp_path / "out"
    run(demo, home, tmp_path, FakePool(judge=timed))
    first = read_timings(out)
    assert first["students"] == {"ada": 1.5, "bob": 9.0}
    run(demo, home, tmp_path)
    assert read_timings(out) == first  # nothing was judged
    write_files(home, {"bob/layer.py": LAYER + b"# mended\n"})
    run(demo, home, tmp_path, FakePool(judge=timed))
    assert read_timings(out)["students"] == {"ada": 1.5, "bob": 1.5}
    (out / "timings.json").write_bytes(b"{")
    run(demo, home, tmp_path)
    assert read_timings(out)["students"] == {}


def test_ctrl_c_when_all_is_under_way_interrupts_nothing(demo, home, tmp_path):
    def interrupting(files):
        os.kill(os.getpid(), signal.SIGINT)
        return judge(files)

    write_files(home, {"bob/layer.py": b""})
    (home / "bob/layer.py").unlink()
    summary, pool = run(demo, home, tmp_path, FakePool(judge=interrupting))
    assert len(pool.seen) == 1
    assert not summary.is_interrupted
    assert summary.exit_code == 0


def test_pictures_lie_beside_the_result_and_go_with_it(demo, home, tmp_path):
    image = Image(rows=1, columns=2, levels=b"\x01\xff")
    picture = Picture(
        exercise="layer", title="To see", caption="", rows="r", columns="c", low=0.0, high=1.0,
        panels=[Panel(title="", yours=image, expected=image)],
    )  # fmt: skip
    seen = pictures.encode([picture])
    out = tmp_path / "out"
    pool = FakePool(judge=lambda files: msgspec.structs.replace(judge(files), pictures=seen))
    run(demo, home, tmp_path, pool)
    assert (out / "ada/pictures.json").read_bytes() == seen
    assert b"To see" not in (out / "ada/result.json").read_bytes()
    assert "To see" in (out / "ada/feedback.html").read_text()
    assert not (out / "cleo/pictures.json").exists()  # nothing could be judged
    run(demo, home, tmp_path, fresh=True)
    assert not (out / "ada/pictures.json").exists()


@pytest.mark.parametrize("place", ["out", "out/grades.csv", "above"])
def test_what_is_in_the_way_is_named(demo, home, tmp_path, place):
    out = tmp_path / ("above/out" if place == "above" else "out")
    if place == "out/grades.csv":
        (tmp_path / place).mkdir(parents=True)
    else:
        write_files(tmp_path, {place: b""})
    with pytest.raises(KitError, match="there is a f") as caught:
        grade_class(demo, home, out, start=FakePool())
    assert str(tmp_path / place) in str(caught.value) or place == "above"
    assert "File exists" not in str(caught.value)
