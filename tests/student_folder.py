"""What a student has on disk, for tests: the bundle unpacked, with some files put into it.

`run_check` forks a process that has imported PyTorch and pytest, as `check.py` would at first.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from autograder.assignment import Assignment
from autograder.release import student

KIT = Path(__file__).resolve().parent.parent
CLEAN = {"PYTHONUTF8": "1", "NO_COLOR": "1", "OMP_NUM_THREADS": "1"}


def unpack(assignment: Assignment, folder: Path) -> Path:
    """Build the bundle, unpack it below `folder` and return what a student opens."""
    (path,) = student.build(assignment, folder / "dist")
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        archive.extractall(folder)
    return folder / assignment.id


def copy_with(bundle: Path, folder: Path, files: Mapping[str, str]) -> Path:
    """A copy of the bundle in which these files are, or are not where the text is empty."""
    shutil.copytree(bundle, folder)
    for name, text in files.items():
        if text:
            (folder / name).write_text(text, encoding="utf-8")
        else:
            (folder / name).unlink()
    return folder


def read_solution(assignment: Assignment) -> dict[str, str]:
    """The reference's files."""
    return {
        name: (assignment.solution_dir / name).read_text(encoding="utf-8")
        for name in assignment.files
    }


def read_case(assignment: Assignment, case: str) -> dict[str, str]:
    """A gallery case's own files over the reference's."""
    folder = assignment.gallery_dir / case
    own = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}
    return read_solution(assignment) | own


def run_check(folder: Path, *arguments: str, **environment: str) -> str:
    """Run `python check.py` as a student does, from another folder; return all that it says."""
    code, said = run_any(folder, *arguments, **environment)
    assert code == 0, said
    return said


def run_any(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """The same with the exit code, whatever it is."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["torch", "pytest"])
    with tempfile.NamedTemporaryFile() as output:
        words = (folder, list(arguments), {**_environment(), **environment}, output.name)
        process = context.Process(target=_run, args=words)
        process.start()
        process.join(120)
        if process.exitcode is None:
            process.kill()
        return process.exitcode or 0, Path(output.name).read_text(encoding="utf-8")


def _run(folder: Path, arguments: list[str], environment: dict[str, str], output: str) -> None:
    with open(output, "wb") as out, open(os.devnull, "rb") as nothing:
        for theirs, ours in ((nothing, 0), (out, 1), (out, 2)):
            os.dup2(theirs.fileno(), ours)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, "w" if n else "r") for n in range(3))
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder.parent)
    sys.argv = [str(folder / "check.py"), *arguments]
    # A student's Python knows nothing of the kit, whatever this test process has imported.
    sys.path[:] = [
        str(folder),
        *(p for p in sys.path if not p.startswith(str(KIT)) or ".venv" in p),
    ]
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        sys.stdout.flush()


def run_python(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a new Python in the folder."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**_environment(), **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=120,
    )


def run_unread(folder: Path, *words: str) -> tuple[int, str]:
    """Run a new Python whose output nobody reads; its exit code, and what it says of errors."""
    ours, theirs = os.pipe()
    os.close(ours)
    with os.fdopen(theirs, "wb") as output:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=folder,
            env=_environment(),
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    return done.returncode, done.stderr


def _environment() -> dict[str, str]:
    kept = ("PATH", "HOME", "LANG", "SYSTEMROOT", "TMPDIR", "TEMP", "MPLCONFIGDIR")
    return {name: os.environ[name] for name in kept if name in os.environ} | CLEAN
