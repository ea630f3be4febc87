"""A corrected test: only what it touches is judged again, and the result is as if all had been."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from demo_kit import BLOCK, LAYER, make_kit, write_files
from test_grading import FakePool, judge

from autograder import results
from autograder.assignment import Assignment, load
from autograder.digest import Digester, Parts
from autograder.gallery import find_gallery
from autograder.grading import grade_class
from autograder.intake import Submission
from autograder.judge import Judge
from autograder.regrading import choose_exercises, decode_digests, merge
from autograder.results import Judgement
from autograder.sandbox import Station
from autograder.totals import make_result

CLASS = {"ada/layer.py": LAYER, "ada/block.py": BLOCK, "bob/layer.py": b"x = 1\n"}
HIDDEN = "kit/solutions/demo/tests"


class PartialPool(FakePool):
    """Judges, like the real one, some exercises or all; puts the others down as passed."""

    def __init__(self) -> None:
        super().__init__()
        self.exercises: list[tuple[str, ...]] = []

    def submit(self, files, exercises=()):
        self.exercises.append(tuple(exercises))

        def judge_some() -> Judgement:
            whole = judge(files)
            tests = [
                msgspec.structs.replace(test, verdict="passed", points=test.max_points, message="")
                if exercises and test.exercise not in exercises
                else test
                for test in whole.tests
            ]
            return msgspec.structs.replace(whole, tests=tests)

        return self.executor.submit(judge_some)


@pytest.fixture
def demo(tmp_path: Path) -> Assignment:
    write_files(tmp_path / "class", CLASS)
    return make_kit(tmp_path / "kit")


def run(demo: Assignment, tmp_path: Path, out: str = "out", **options: object) -> PartialPool:
    pool = PartialPool()
    grade_class(demo, tmp_path / "class", tmp_path / out, start=pool, **options)
    return pool


def read_all(out: Path) -> dict[str, bytes]:
    return {
        path.relative_to(out).as_posix(): path.read_bytes()
        for path in sorted(out.rglob("*"))
        if path.is_file() and path.name != "timings.json"
    }


@pytest.mark.parametrize(
    ("path", "exercises"),
    [
        ("solutions/demo/tests/test_block.py", [(), ("block",)]),  # bob's layer is not perfect
        ("solutions/demo/tests/test_layer.py", [()] * 2),  # the block uses the layer
        ("solutions/demo/tests/inputs.py", [()] * 2),  # what all tests share
        ("solutions/demo/layer.py", [()] * 2),
    ],
)
def test_a_corrected_test_touches_its_exercise_and_those_that_use_it(
    demo, tmp_path, path, exercises
):
    run(demo, tmp_path)
    write_files(tmp_path / "kit", {path: b"# corrected\n"})
    again = run(demo, tmp_path)
    assert sorted(again.exercises) == exercises
    run(demo, tmp_path, "fresh")
    assert read_all(tmp_path / "out") == read_all(tmp_path / "fresh")


def test_a_second_correction_is_seen_too(demo, tmp_path):
    for text in (b"# one\n", b"# two\n"):
        run(demo, tmp_path)
        write_files(tmp_path / "kit", {"solutions/demo/tests/test_block.py": text})
        assert ("block",) in run(demo, tmp_path).exercises
    assert run(demo, tmp_path).exercises == []


@pytest.mark.parametrize("damage", ["gone", "cut", "other"])
def test_without_the_digests_all_is_judged(demo, tmp_path, damage):
    run(demo, tmp_path)
    path = tmp_path / "out/digests.json"
    data = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(
            data[:50] if damage == "cut" else data.replace(b'"digest": "', b'"digest": "0')
        )
    write_files(tmp_path / "kit", {"solutions/demo/tests/test_block.py": b"# corrected\n"})
    assert run(demo, tmp_path).exercises == [(), ()]


def test_fresh_and_changed_work_is_judged_whole(demo, tmp_path):
    run(demo, tmp_path)
    write_files(tmp_path / "kit", {"solutions/demo/tests/test_block.py": b"# corrected\n"})
    write_files(tmp_path / "class", {"ada/layer.py": LAYER + b"# newer\n"})
    assert run(demo, tmp_path).exercises == [(), ()]
    write_files(tmp_path / "kit", {"solutions/demo/tests/test_block.py": b"# again\n"})
    assert run(demo, tmp_path, fresh=True).exercises == [(), ()]


def test_digests_of_those_who_wait_are_kept(demo, tmp_path):
    run(demo, tmp_path)
    write_files(tmp_path / "kit", {"solutions/demo/tests/test_block.py": b"# corrected\n"})
    run(demo, tmp_path, only=["bob"])
    assert run(demo, tmp_path).exercises == [("block",)]


def test_tests_that_others_make_use_of_touch_everything(demo, tmp_path):
    write_files(
        tmp_path / "kit", {"solutions/demo/tests/test_layer.py": b"from test_block import x\n"}
    )
    run(demo, tmp_path)
    write_files(tmp_path / "kit", {"solutions/demo/tests/test_block.py": b"x = 1\n"})
    assert run(demo, tmp_path).exercises == [(), ()]


def test_a_flag_does_not_say_which_test_raised_it(demo):
    work = Submission("ada", "ada", "ada", {"layer.py": LAYER, "block.py": BLOCK})
    parts = Digester(demo).split(work)
    result = make_result(demo, work, parts.digest, judge(work.files))
    new = msgspec.structs.replace(parts, exercises={**parts.exercises, "block": "corrected"})
    assert choose_exercises(demo, result, parts, new) == ["block"]
    flagged = msgspec.structs.replace(result, flags=["uses_something"])
    assert choose_exercises(demo, flagged, parts, new) == []
    assert choose_exercises(demo, result, None, new) == []
    assert decode_digests(b"nonsense").students == {}


# --- with the real judge ------------------------------------------------------------------------

CASES = ["reference", "template", "wrong-pe-learned", "wrong-mha-scale-dmodel"]


@pytest.fixture(scope="module")
def attention() -> Assignment:
    return load("attention")


@pytest.fixture(scope="module")
def real(attention: Assignment, warm_station: Station) -> Iterator[Judge]:
    judge = Judge(attention, warm_station)
    yield judge
    judge.close()


def test_part_and_rest_are_the_whole(attention, real):
    """Judged in part, whichever exercise was corrected, a submission gets the same result."""
    gallery = {submission.student: submission for submission in find_gallery(attention).submissions}
    partial = 0
    for case in CASES:
        work = gallery[case]
        files = {name: data.decode() for name, data in work.files.items()}
        parts = Digester(attention).split(work)
        whole = real.judge(files)
        result = make_result(attention, work, parts.digest, whole)
        for exercise in attention.exercises:
            old = Parts(parts.digest, parts.rest, {**parts.exercises, exercise.id: "before"})
            chosen = choose_exercises(attention, result, old, parts)
            if not chosen:
                continue
            partial += 1
            judged = real.judge(files, chosen)
            merged = merge(attention, result, judged, chosen, whole.pictures)
            again = make_result(attention, work, parts.digest, merged)
            assert results.encode(again) == results.encode(result), (case, exercise.id)
            assert merged.pictures == whole.pictures, (case, exercise.id)
    assert partial >= 5
