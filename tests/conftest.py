"""Fixtures shared by the kit's own tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest
from student_folder import unpack

from autograder.assignment import load
from autograder.remote import Setup, Submission
from autograder.sandbox import Station, Zygote

LIMITS = {"cpu_seconds": 20, "memory_bytes": 1 << 30, "processes": 48, "file_bytes": 16 << 20}
# The same examples in every run, however slow the machine; others by --hypothesis-profile=default.
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.load_profile("same")

Open = Callable[..., Submission]
LONG = """
test_hostile test_security test_resilience test_verify test_end_to_end test_scaffold test_programs
test_cluster test_explore test_sandbox test_judge test_nbgrader test_otter test_lab test_forges
""".split()
"""The files that take longest: they go first, so that no core is left alone with one of them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG))


@pytest.fixture(scope="session", params=["bubblewrap", "namespaces", "process"])
def station(request: pytest.FixtureRequest) -> Iterator[Station]:
    """A station of a warm zygote: in each of the two ways to `full`, and at level `process`."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "namespaces":
            patch.setenv("PATH", "")  # no bubblewrap to be found
        zygote = Zygote.spawn(1, "process" if request.param == "process" else "auto")
    station = Station(zygote.channels[0])
    if station.wait_ready() != ("process" if request.param == "process" else "full"):
        zygote.close()
        pytest.skip(f"{request.param} cannot be had on this machine")
    yield station
    zygote.close()


@pytest.fixture(scope="session")
def warm_station() -> Iterator[Station]:
    """One station at the best level that is to be had, for judges that need no other."""
    zygote = Zygote.spawn(1)
    station = Station(zygote.channels[0])
    station.wait_ready()
    yield station
    zygote.close()


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a student has unpacked: not to be changed, copy it."""
    return unpack(load("attention"), tmp_path_factory.mktemp("student"))


@pytest.fixture
def open_submission(station: Station) -> Iterator[Open]:
    """Opens a submission made of one source text; `names` are what tests may use of it."""
    opened: list[Submission] = []

    def open_submission(source: str, *names: str, **changes: object) -> Submission:
        settings: dict[str, object] = {
            "files": {"work.py": source},
            "homes": dict.fromkeys(names, "work.py"),
            "limits": LIMITS,
            "import_seconds": 5.0,
            "test_seconds": 2.0,
        }
        submission = Submission(station, Setup(**(settings | changes)))  # type: ignore[arg-type]
        submission.begin_test()
        opened.append(submission)
        return submission

    yield open_submission
    for submission in opened:
        submission.close()
