"""What the tests of platforms share: the release, built once."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from platforms import pages

LEFT_OUT = Path(__file__).with_name("left_out")


@pytest.fixture(scope="session", autouse=True)
def in_haste() -> Iterator[None]:
    """Programs that tests start do without what only takes time. Measurements do not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(LEFT_OUT))
        yield


@pytest.fixture(scope="session")
def kit(in_haste: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
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
