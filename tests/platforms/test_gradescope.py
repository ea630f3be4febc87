"""The Gradescope zip, unpacked into the layout of /autograder and run as Gradescope runs it."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from platforms.handed_in import ATTENTION, GALLERY

from autograder.platforms import gradescope, judging
from autograder.release.graded import list_tests
from autograder.release.leaks import find_leaks
from autograder.release.notebook import student_notebook

SCHEMA = json.loads(Path(__file__).with_name("results_schema.json").read_text(encoding="utf-8"))
METADATA = {
    "id": 123456,
    "created_at": "2026-07-01T14:22:32.365935-07:00",
    "assignment": {"due_date": "2026-07-01T00:00:00.000000-07:00", "total_points": "100.0"},
    "submission_method": "upload",
    "users": [{"email": "ada@example.edu", "id": 1234, "name": "Ada"}],
    "previous_submissions": [{"submission_time": "2026-06-29T10:00:00-07:00", "score": "3.0"}],
}


def place(source: str, target: str) -> None:
    """A second name for a file where the disk allows it, else a copy."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="module")
def autograder(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """/autograder after setup.sh, but for packages, which are those of this Python."""
    root = tmp_path_factory.mktemp("gradescope") / "autograder"
    for name in ("source", "submission", "results"):
        (root / name).mkdir(parents=True)
    with zipfile.ZipFile(kit / "dist" / "attention" / "gradescope.zip") as archive:
        archive.extractall(root / "source")
    shutil.copy(root / "source" / "run_autograder", root)
    (root / "run_autograder").chmod(0o755)
    venv.create(root / "venv", symlinks=True)
    packages = Path(sysconfig.get_path("purelib"))
    inside = root / "venv" / packages.relative_to(sys.prefix)
    ours = shutil.ignore_patterns("__editable__*", "nbgrader*", "otter*", "jupyterlab*")
    shutil.copytree(packages, inside, ignore=ours, copy_function=place, dirs_exist_ok=True)
    setup = (root / "source" / "setup.sh").read_text(encoding="utf-8")
    assert 'echo "$root/source" > "$packages/kit.pth"' in setup
    (inside / "kit.pth").write_text(f"{root / 'source'}\n", encoding="utf-8")
    return root


def hand_in(root: Path, files: Mapping[str, bytes], metadata: Any = METADATA) -> None:
    shutil.rmtree(root / "submission")
    (root / "submission").mkdir()
    for name, data in files.items():
        (root / "submission" / name).write_bytes(data)
    (root / "submission_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
    (root / "results" / "results.json").unlink(missing_ok=True)


def grade(root: Path) -> tuple[dict[str, Any], str]:
    """Run `run_autograder`; results.json, held against the schema, and what staff see."""
    bare = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = subprocess.run(
        [root / "run_autograder"], env=bare, capture_output=True, text=True, timeout=200, cwd="/"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr
    return read_results(root), done.stdout


def read_results(root: Path) -> dict[str, Any]:
    results = json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))
    jsonschema.validate(results, SCHEMA)
    assert results["score"] == sum(test["score"] for test in results["tests"])
    return dict(results)


def test_the_scripts_are_shell(autograder):
    for name in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", autograder / "source" / name], check=True)


def test_right_work_in_a_notebook(autograder):
    sources = {name: data.decode() for name, data in GALLERY["reference"].items()}
    hand_in(autograder, {"attention.ipynb": student_notebook(ATTENTION, sources)})
    results, _ = grade(autograder)
    assert results["score"] == 100
    assert all(test["status"] == "passed" for test in results["tests"])


def test_wrong_work_points_titles_and_visibility(autograder):
    hand_in(autograder, GALLERY["wrong-two-scale-and-halves"])
    results, staff = grade(autograder)
    assert 50 < results["score"] < 100
    for found, test in zip(results["tests"], list_tests(ATTENTION), strict=True):
        assert (found["name"], found["max_score"]) == (test.title, float(test.points))
        assert found["visibility"] == ("after_published" if test.is_hidden else "visible")
    assert results["stdout_visibility"] == "hidden" and "test_divisor: failed" in staff
    # What students get at once, and what later submissions are given, says nothing of the staff's.
    text = json.dumps(results)
    assert list(find_leaks(ATTENTION, {"results.json": text.encode()})) == []
    assert "sqrt(d_k)" not in results["output"]
    result = results["extra_data"]["result"]
    assert {test["staff_message"] for test in result["tests"]} == {""}
    assert result["isolation"] in results["output"] and result["isolation"] in staff


def test_lateness_and_attempt_come_from_the_metadata(autograder):
    hand_in(autograder, GALLERY["template"])
    results, _ = grade(autograder)
    assert results["score"] == 0
    assert "Attempt 2." in results["output"]
    assert "Late by 14 h 22 min." in results["output"]
    said = results["extra_data"]
    assert (said["attempt"], said["late"]) == (2, "14 h 22 min")
    assert said["submitters"] == ["ada@example.edu"]


def test_hostile_work_earns_nothing_and_writes_nothing(autograder):
    forge = (
        "import json, pathlib\n"
        f"for root in ('/autograder', {str(autograder)!r}):\n"
        "    try:\n"
        "        folder = pathlib.Path(root) / 'results'\n"
        "        folder.joinpath('results.json').write_text(json.dumps({'score': 100}))\n"
        "        folder.joinpath('mine').write_text('x')\n"
        "    except OSError:\n"
        "        pass\n"
    )
    files = {name: forge.encode() + data for name, data in GALLERY["template"].items()}
    hand_in(autograder, {**files, "conftest.py": forge.encode(), "torch.py": forge.encode()})
    results, _ = grade(autograder)
    assert results["score"] == 0
    assert [path.name for path in (autograder / "results").iterdir()] == ["results.json"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "It is empty"),
        ({"work.zip": b"no archive", "essay.pdf": b"%PDF"}, "Nothing in it can be graded"),
    ],
    ids=["empty", "unreadable"],
)
def test_what_cannot_be_graded_has_no_points_and_says_why(autograder, files, said):
    hand_in(autograder, files, metadata={"users": "nobody", "assignment": None})
    results, _ = grade(autograder)
    assert results["score"] == 0
    assert said in results["output"]


def test_a_fault_of_ours_is_no_zero(autograder):
    hand_in(autograder, GALLERY["reference"])
    broken = autograder / "source" / "solutions" / "attention" / "tests" / "inputs.py"
    text = broken.read_text(encoding="utf-8")
    broken.write_text("raise RuntimeError('broken')\n" + text, encoding="utf-8")
    try:
        done = subprocess.run([autograder / "run_autograder"], capture_output=True, text=True)
    finally:
        broken.write_text(text, encoding="utf-8")
    assert done.returncode == 2
    assert "was not graded" in done.stderr and "Traceback" not in done.stderr
    assert not (autograder / "results" / "results.json").exists()


def test_where_a_container_allows_no_namespaces(autograder, monkeypatch):
    """The level is said, and marks are the same; that much can be had in any container."""
    from autograder import pool

    weak = pool.start("attention", 1, "process")
    monkeypatch.setattr(judging, "open_pool", lambda assignment: weak)
    hand_in(autograder, GALLERY["wrong-pe-halves"])
    try:
        gradescope.run(autograder)
    finally:
        weak.close()
    results = read_results(autograder)
    assert 50 < results["score"] < 100
    assert results["extra_data"]["result"]["isolation"] == "process"
    assert "Isolation: process." in results["output"]
