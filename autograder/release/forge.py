"""A template repository for git forges: the student's bundle, and what checks it on every push."""

from __future__ import annotations

import shutil
from pathlib import Path

from autograder.assignment import Assignment
from autograder.release.leaks import refuse_leaks
from autograder.release.student import bundle
from autograder.storage import write_whole

STEPS = (
    "python -m pip install -r requirements.txt",
    "python check.py",  # in words; its exit code says nothing about the work
    "python -m pytest -q",  # red until all public tests pass
)
GITHUB = """\
# Runs the public tests on every push, for you to see. Grading uses its own copies of them.
# A smaller PyTorch: set the variable PIP_EXTRA_INDEX_URL in the repository's settings.
name: public tests
on: [push, workflow_dispatch]
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
    timeout-minutes: 15
    env:
      PIP_EXTRA_INDEX_URL: ${{ vars.PIP_EXTRA_INDEX_URL }}
      PYTHONUTF8: "1"
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.11"
          cache: pip
          cache-dependency-path: requirements.txt
"""
GITLAB = """\
# Runs the public tests on every push, for you to see. Grading uses its own copies of them.
# A smaller PyTorch: set the variable PIP_EXTRA_INDEX_URL in the project's settings.
check:
  image: python:3.11
  timeout: 15 minutes
  variables:
    PYTHONUTF8: "1"
  script:
"""
IGNORED = "__pycache__/\n.pytest_cache/\n.venv/\n.ipynb_checkpoints/\n*.zip\n"


def build(declared: Assignment, out: Path) -> list[Path]:
    """Write the repository's files into `out/forge`.

    Raises:
        KitError: a source cannot be read, or something of the staff's would leak.
    """
    folder = out / "forge"
    shutil.rmtree(folder, ignore_errors=True)
    for name, content in repository(declared).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content)
    return [folder]


def repository(assignment: Assignment) -> dict[str, bytes]:
    """The files of the repository: path to content."""
    github = GITHUB + "".join(f"      - run: {step}\n" for step in STEPS)
    gitlab = GITLAB + "".join(f"    - {step}\n" for step in STEPS)
    files = {
        **bundle(assignment),
        ".github/workflows/check.yml": github.encode(),
        ".gitlab-ci.yml": gitlab.encode(),
        ".gitignore": IGNORED.encode(),
    }
    refuse_leaks(assignment, files)
    return files
