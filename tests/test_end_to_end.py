"""Does the real command give the same bytes however a class is graded, interruptions included?"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from student_folder import run_unread
from waiting import wait_until

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "solutions" / "attention" / "gallery"
FILES = ("multi_head_attention.py", "positional_encoding.py", "attention_block.py")
STUDENTS = {
    "ada": [],
    "bob": ["wrong/mha-scale-dmodel"],
    "cleo": ["wrong/pe-halves"],
    "dan": ["wrong/block-pe-twice"],
    "eve": ["hostile/exits_zero_in_forward"],
    "fay": ["wrong/two-scale-and-halves"],
    "gus": ["hostile/all_three_exit"],
}


@pytest.fixture(scope="module")
def my_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A class as folders and zips: right, wrong, hostile; and one who handed in a picture."""
    source = tmp_path_factory.mktemp("class") / "my_class"
    for student, cases in STUDENTS.items():
        folder = source / student
        folder.mkdir(parents=True)
        for name in FILES:
            shutil.copy(ROOT / "solutions" / "attention" / name, folder)
        for case in cases:
            for path in (GALLERY / case).glob("*.py"):
                shutil.copy(path, folder)
    with zipfile.ZipFile(source / "hal.zip", "w") as archive:
        for name in FILES:
            archive.write(ROOT / "solutions" / "attention" / name, f"homework/{name}")
    (source / "ivy").mkdir()
    (source / "ivy" / "homework.png").write_bytes(b"\x89PNG\r\n")
    return source


def grade(my_class: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(my_class, out, *options), capture_output=True, text=True)


def command(my_class: Path, out: Path, *options: str) -> list[str]:
    words = [sys.executable, "-m", "autograder", "grade", "attention", str(my_class)]
    return [*words, "--out", str(out), *options]


def test_a_class_is_graded_to_its_end_when_nobody_reads_on(my_class: Path, tmp_path: Path) -> None:
    words = command(my_class, tmp_path / "out", "--only", "ada", "--only", "bob")
    assert run_unread(tmp_path, *words[1:]) == (0, "")
    assert len(list(tmp_path.glob("out/*/result.json"))) == 2
    assert (tmp_path / "out/grades.csv").exists()


def read_all(out: Path) -> dict[str, bytes]:
    """Every file that is promised to be the same each time."""
    names = [*out.glob("*/*.json"), *out.glob("*/feedback.*"), out / "grades.csv"]
    return {str(path.relative_to(out)): path.read_bytes() for path in names}


@pytest.fixture(scope="module")
def undisturbed(my_class: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("undisturbed") / "out"
    done = grade(my_class, out, "--jobs", "2")
    assert done.returncode == 0, done.stderr
    return out


def test_marks_are_what_they_should_be(undisturbed: Path) -> None:
    rows = (undisturbed / "grades.csv").read_text(encoding="utf-8").splitlines()
    table = {row.split(",")[0]: row.split(",")[1:] for row in rows[1:]}
    assert table["ada"][:3] == table["hal"][:3] == ["100", "100", "graded"]
    assert table["MAXIMUM"][0] == "100" and table["ivy"][:3] == ["", "100", "ungradable"]
    assert table["bob"][4:] == [table["bob"][4], "25", "30"] and float(table["bob"][4]) < 45
    assert table["cleo"][4::2] == ["45", "30"] and float(table["cleo"][5]) < 25
    assert table["gus"][2] == table["eve"][2] == "graded"


def test_who_is_wrong_sees_it_and_how_long_everybody_took_is_known(undisturbed: Path) -> None:
    seen = {path.parent.name for path in undisturbed.glob("*/pictures.json")}
    assert {"bob", "cleo", "fay"} <= seen <= set(STUDENTS) - {"ada"}
    assert "data:image/png" in (undisturbed / "bob" / "feedback.html").read_text(encoding="utf-8")
    times = json.loads((undisturbed / "timings.json").read_bytes())["students"]
    assert set(times) == {*STUDENTS, "hal"} and min(times.values()) > 0


def test_fresh_and_one_job_give_the_same_bytes(my_class: Path, undisturbed: Path) -> None:
    before = read_all(undisturbed)
    done = grade(my_class, undisturbed, "--fresh", "--jobs", "1")
    assert done.returncode == 0, done.stderr
    assert read_all(undisturbed) == before


def test_a_second_run_grades_nothing(my_class: Path, undisturbed: Path) -> None:
    before = read_all(undisturbed)
    done = grade(my_class, undisturbed)
    assert done.returncode == 0 and "unchanged" in done.stdout
    assert read_all(undisturbed) == before


@pytest.mark.parametrize("seconds", [0.4, 2.5, 4.0])
def test_a_killed_run_is_finished_by_the_next(
    my_class: Path, undisturbed: Path, tmp_path: Path, seconds: float
) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        command(my_class, out), stdout=subprocess.DEVNULL, start_new_session=True
    )
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    partial = [path for path in out.glob("*/result.json") if not path.read_bytes().endswith(b"}\n")]
    assert partial == []
    done = grade(my_class, out)
    assert done.returncode == 0, done.stderr
    assert read_all(out) == read_all(undisturbed)


def test_nothing_of_a_killed_run_lives_on(my_class: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(command(my_class, tmp_path / "out"), stdout=subprocess.DEVNULL)
    time.sleep(4)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    mark = str(tmp_path)
    assert wait_until(lambda: find_descendants(mark) == []), find_descendants(mark)


def find_descendants(mark: str) -> list[str]:
    """Processes that carry the output folder in their command line: the grader and its judges."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes()
        except OSError:
            continue
        if mark.encode() in words:
            found.append(str(path))
    return found
