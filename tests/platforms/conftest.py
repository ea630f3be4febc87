"""What the tests of platforms share: the release, built once."""

import json
import shutil
from pathlib import Path

import pytest
from platforms import pages


@pytest.fixture(scope="session")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which `make release A=attention` has been run: dist/attention/ is there."""
    recipe = (pages.ROOT / "Makefile").read_text(encoding="utf-8")
    assert "autograder release $(A) $(ARGS)" in recipe
    folder = tmp_path_factory.mktemp("kit")
    pages.succeed("autograder release attention --out dist/attention", folder)
    return folder


@pytest.fixture
def folder(kit: Path, tmp_path: Path) -> Path:
    """The same, for one test to work in."""
    shutil.copytree(kit / "dist", tmp_path / "dist")
    return tmp_path


def read_scores(grades: Path) -> dict[str, float]:
    """The scores that `autograder grade` has written, by student."""
    return {
        path.parent.name: float(json.loads(path.read_text(encoding="utf-8"))["score"])
        for path in grades.glob("*/result.json")
    }
