"""Output that cannot be written: said plainly, nothing half-written, completed by the next run."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from soak import running

FAULT = 2
BALLAST = "ballast"


@contextlib.contextmanager
def small_disk(folder: Path, kib: int) -> Iterator[Path]:
    """A file system of that size. Only root can make one."""
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={kib}k", "tmpfs", str(folder)]
    subprocess.run(words, check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def check_full(source: Path, folder: Path, expected: dict[str, bytes]) -> list[str]:
    """A disk that is full after a few students."""
    most = sum(map(len, expected.values()))
    with small_disk(folder / "disk", 64 + most * 2 // 1024) as disk:
        out, problems = disk / "out", []
        (disk / BALLAST).write_bytes(bytes(most * 3 // 2))
        done = running.grade(source, out)
        if done.returncode != FAULT or "No space left on device. Make room" not in done.stdout:
            problems.append(f"exit code {done.returncode}: {done.stdout[-600:]}")
        if "Traceback" in done.stdout:
            problems.append(f"a traceback: {done.stdout[-600:]}")
        problems += [f"half: {path}" for path in running.list_halves(out)]
        problems += [f"half: {path}" for path in running.list_partials(out)]
        written = running.read_all(out) if (out / "grades.csv").exists() else _read_results(out)
        results = {name for name in written if name.endswith("result.json")}
        if not 0 < len(results) < sum(1 for _ in source.iterdir()):
            problems.append(f"{len(results)} results fitted on the disk: it proves nothing")
        problems += [f"differs: {n}" for n in sorted(results) if written[n] != expected[n]]
        (disk / BALLAST).unlink()
        problems += _complete(source, out, expected)
    return problems


def check_blocked(source: Path, folder: Path, expected: dict[str, bytes]) -> list[str]:
    """Four students whose files cannot be written, for a reason each: the others' are."""
    out, problems = folder / "blocked", []
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    names = sorted(path.name for path in source.iterdir())[:4]
    (out / names[0]).write_bytes(b"in the way")
    (out / names[1] / "result.json").mkdir(parents=True)
    for name, mode in ((names[2], 0o500), (names[3], 0o000)):
        (out / name).mkdir()
        (out / name).chmod(mode)
    done = running.grade(source, out, prefix=_obeying())
    reasons = ["there is a file where", "there is a folder where", "Permission denied"]
    if done.returncode != FAULT or [done.stdout.count(r) for r in reasons] != [1, 1, 2]:
        problems.append(f"exit code {done.returncode}: {done.stdout[-1200:]}")
    (out / names[0]).unlink()
    (out / names[1] / "result.json").rmdir()
    for name in names[2:]:
        (out / name).chmod(0o700)
    problems += [f"half: {path}" for path in running.list_partials(out)]
    found = _read_results(out)
    for name, data in expected.items():
        if "/" in name and name.split("/")[0] not in names and found.get(name) != data:
            problems.append(f"differs: {name}")
    return problems + _complete(source, out, expected)


def _obeying() -> list[str]:
    """What makes root obey the permissions of files, as everybody else does."""
    taken = "-dac_override,-dac_read_search"
    command = ["setpriv", "--bounding-set", taken, "--inh-caps", taken, "--"]
    return command if os.geteuid() == 0 else []


def _complete(source: Path, out: Path, expected: dict[str, bytes]) -> list[str]:
    done = running.grade(source, out)
    if done.returncode != 0:
        return [f"the rerun ends in {done.returncode}: {done.stdout[-600:]}"]
    differences = running.list_differences(running.read_all(out), expected)
    return [f"differs: {name}" for name in differences]


def _read_results(out: Path) -> dict[str, bytes]:
    names = [*out.glob("*/result.json"), *out.glob("*/feedback.*")]
    return {str(path.relative_to(out)): path.read_bytes() for path in names if path.is_file()}
