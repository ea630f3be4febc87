"""Do the workers of a Dask cluster give the bytes that this machine gives, when one is lost too?"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
GALLERY = ROOT / "solutions" / "attention" / "gallery"
FILES = ("multi_head_attention.py", "positional_encoding.py", "attention_block.py")
CASES = ["right/mha-einsum", "wrong/mha-scale-dmodel", "wrong/pe-halves", "wrong/block-pe-twice"]
SIZE = int(os.environ.get("CLUSTER_CLASS", "12"))


@pytest.fixture(scope="module")
def my_class(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = tmp_path_factory.mktemp("class") / "my_class"
    for number in range(SIZE):
        folder = source / f"student{number:03d}"
        folder.mkdir(parents=True)
        for name in FILES:
            shutil.copy(ROOT / "solutions" / "attention" / name, folder)
        for path in (GALLERY / CASES[number % len(CASES)]).glob("*.py"):
            shutil.copy(path, folder)
    return source


@pytest.fixture(scope="module")
def at_home(my_class: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("at_home") / "out"
    done = grade(my_class, out)
    assert done.returncode == 0, done.stderr
    return read_all(out)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    running = Cluster(tmp_path)
    yield running
    running.close()


class Cluster:
    """A scheduler and two workers, as docs/cluster.md starts them."""

    def __init__(self, folder: Path) -> None:
        file = folder / "scheduler.json"
        where = ["--scheduler-file", str(file)]
        quiet = ["--no-dashboard"]
        self.scheduler = dask("scheduler", "--host", "127.0.0.1", "--port", "0", *where, *quiet)
        self.workers = [
            dask("worker", *where, *quiet, "--nthreads", "1", "--no-nanny", folder=folder)
            for _ in range(2)
        ]
        self.address = wait_for_workers(file, 2)

    def close(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def dask(*words: str, folder: Path | None = None) -> subprocess.Popen[bytes]:
    if folder is not None:
        words = (*words, "--local-directory", str(folder))
    return subprocess.Popen(
        [sys.executable, "-m", "dask", *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def wait_for_workers(file: Path, count: int) -> str:
    from distributed import Client

    deadline = time.monotonic() + 60
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.1)
    with Client(scheduler_file=str(file), set_as_default=False) as client:
        client.wait_for_workers(count, timeout=60)
        return str(client.scheduler.address)


def grade(my_class: Path, out: Path, *options: str) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "autograder", "grade", "attention", str(my_class)]
    return subprocess.run([*words, "--out", str(out), *options], capture_output=True, text=True)


def read_all(out: Path) -> dict[str, bytes]:
    names = [*out.glob("*/*.json"), *out.glob("*/feedback.*"), out / "grades.csv"]
    return {str(path.relative_to(out)): path.read_bytes() for path in names}


def test_a_lost_worker_changes_no_byte(
    my_class: Path, at_home: dict[str, bytes], cluster: Cluster, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    def lose_one() -> None:
        deadline = time.monotonic() + 120
        while len(list(out.glob("*/result.json"))) < SIZE // 4 and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(cluster.workers[0].pid, signal.SIGKILL)

    killer = threading.Thread(target=lose_one)
    killer.start()
    done = grade(my_class, out, "--cluster", cluster.address)
    killer.join()
    assert done.returncode == 0, done.stderr
    assert cluster.workers[0].wait(10) == -signal.SIGKILL
    assert cluster.workers[1].poll() is None
    assert read_all(out) == at_home


def test_another_kit_on_a_worker_is_refused(
    my_class: Path, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autograder import cluster as ours
    from autograder.digest import Digester
    from autograder.errors import KitError

    monkeypatch.setattr(Digester, "kit", "another")
    with pytest.raises(KitError, match="has another version of the kit"):
        ours.connect(cluster.address, "attention")


def test_no_cluster_is_said_in_a_line(
    my_class: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from autograder import cluster as ours
    from autograder.errors import KitError

    monkeypatch.setattr(ours, "CONNECT_SECONDS", 1)
    with pytest.raises(KitError, match="no cluster answers at tcp://127.0.0.1:9"):
        ours.connect("tcp://127.0.0.1:9", "attention")
    with pytest.raises(KitError, match="no cluster answers at nonsense"):
        ours.connect("nonsense://", "attention")
