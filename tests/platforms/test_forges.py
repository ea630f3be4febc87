"""The template repository: what its workflow runs, and a class of clones."""

import shutil
from pathlib import Path

import pytest
import yaml
from platforms.conftest import read_scores
from platforms.handed_in import ATTENTION, GALLERY
from platforms.pages import read_blocks, run, succeed

from autograder.release.leaks import find_leaks

IDENTITY = "-c user.name=Ada -c user.email=ada@example.edu"


@pytest.fixture(scope="module")
def template(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository, made and committed as the page says."""
    folder = tmp_path_factory.mktemp("forge")
    shutil.copytree(kit / "dist", folder / "dist")
    build, commit = read_blocks("forges", "")
    succeed(build + commit, folder)
    return folder / "template"


def read_steps(template: Path) -> list[str]:
    """What both workflows run, in order."""
    github = yaml.safe_load((template / ".github/workflows/check.yml").read_text("utf-8"))
    gitlab = yaml.safe_load((template / ".gitlab-ci.yml").read_text("utf-8"))
    steps = [step["run"] for step in github["jobs"]["check"]["steps"] if "run" in step]
    assert steps == gitlab["check"]["script"]
    assert github["permissions"] == {"contents": "read"}
    return steps


def clone(template: Path, folder: Path, work: str) -> None:
    succeed(f"git clone --quiet {template} {folder}", template)
    for name, data in GALLERY[work].items():
        (folder / name).write_bytes(data)
    succeed(f"git {IDENTITY} commit --quiet --all --allow-empty --message Work", folder)


def test_students_get_nothing_of_the_staffs(template):
    files = {
        str(path.relative_to(template)): path.read_bytes()
        for path in template.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(template).parts
    }
    assert {"check.py", "attention.ipynb", ".gitlab-ci.yml"} <= set(files)
    assert list(find_leaks(ATTENTION, files)) == []


def test_the_workflow_is_red_for_stubs_and_green_for_right_work(template, tmp_path):
    install, check, test = read_steps(template)
    assert install == "python -m pip install -r requirements.txt"
    clone(template, tmp_path / "attention-ada", "reference")
    assert "not yet written" in succeed(check, template).lower()
    assert run(test, template).returncode == 1
    said = succeed(f"{check}\n{test}", tmp_path / "attention-ada")
    assert "failed" not in said.splitlines()[-1]


def test_clones_are_graded(template, tmp_path):
    for user, work in (("ada", "reference"), ("bo", "wrong-pe-halves"), ("cy", "template")):
        clone(template, tmp_path / "clones" / f"attention-{user}", work)
    (command,) = read_blocks("forges", "Collecting and grading")
    succeed(command, tmp_path)
    scores = read_scores(tmp_path / "grades" / "attention")
    assert set(scores) == {"ada", "bo", "cy"}
    assert scores["ada"] == 100 > scores["bo"] > 50 and scores["cy"] == 0
