"""Does a digest change with what a verdict depends on, and with nothing else?"""

from __future__ import annotations

from pathlib import Path

import pytest
from demo_kit import make_kit

from autograder import digest
from autograder.assignment import Assignment
from autograder.digest import Digester


@pytest.fixture
def kit(tmp_path: Path) -> Assignment:
    return make_kit(tmp_path)


@pytest.mark.parametrize(
    ("path", "judges"),
    [
        ("hidden_tests/bounds.json", True),
        ("public_tests/table.csv", True),
        ("hidden_tests/helpers.py", True),
        ("solution_dir/layer.py", True),
        ("hidden_tests/__pycache__/helpers.cpython-311.pyc", False),
        ("public_dir/handout.md", False),
        ("gallery_dir/right/case.toml", False),
    ],
)
def test_files_that_judge(kit: Assignment, path: str, judges: bool) -> None:
    base, _, name = path.partition("/")
    file = getattr(kit, base) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    before = Digester(kit).kit
    file.write_text("changed", encoding="utf-8")
    assert (Digester(kit).kit != before) == judges


@pytest.mark.parametrize("package", ["torch", "numpy", "einops", "matplotlib"])
def test_another_version_of_what_code_may_import(
    kit: Assignment, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, find = Digester(kit).kit, digest._find_version
    monkeypatch.setattr(digest, "_find_version", lambda name: find(name) + "x" * (name == package))
    assert Digester(kit).kit != before
