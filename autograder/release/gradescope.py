"""The zip of a Gradescope autograder: the kit, one assignment, and two scripts.

Gradescope unpacks it into /autograder/source, runs `setup.sh` once to make an image, and
`run_autograder` for every submission (gradescope/autograder_samples, docs/specs.md).
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import autograder
from autograder.assignment import Assignment
from autograder.errors import KitError
from autograder.release.zipping import write_zip

SETUP = """\
#!/usr/bin/env bash
# Runs once, when the image is made: Python 3.11 or newer, the sandbox, the pinned packages.
# Where torch should come from another index, set PIP_EXTRA_INDEX_URL above.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
apt-get update
apt-get install -y --no-install-recommends bubblewrap
python=""
for name in python3.13 python3.12 python3.11; do
    if "$name" -c "import ensurepip, venv" 2>/dev/null; then python="$name" && break; fi
done
if [ -z "$python" ]; then
    apt-get install -y --no-install-recommends python3.11 python3.11-venv
    python=python3.11
fi
"$python" -m venv "$root/venv"
"$root/venv/bin/pip" install --no-cache-dir -r "$root/source/requirements.lock"
packages="$("$root/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
echo "$root/source" > "$packages/kit.pth"
"""
RUN = """\
#!/usr/bin/env bash
# Runs for every submission. Only this account may look into the folders of the grader.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
chmod 700 "$root/source" "$root/submission" "$root/results"
if [ -f "$root/submission_metadata.json" ]; then chmod 600 "$root/submission_metadata.json"; fi
cd "$root/source"
exec "$root/venv/bin/python" -m autograder gradescope "$root"
"""
SUFFIXES = {".py", ".toml", ".j2", ".css", ".js", ".md", ".json", ".txt", ".ini", ""}


def build(declared: Assignment, out: Path) -> list[Path]:
    """Write `out/gradescope.zip`.

    Raises:
        KitError: the kit's own files are not all there.
    """
    files = {"setup.sh": SETUP.encode(), "run_autograder": RUN.encode()}
    files |= {name: path.read_bytes() for name, path in list_kit(declared)}
    return [write_zip(out / "gradescope.zip", files)]


def list_kit(assignment: Assignment) -> Iterator[tuple[str, Path]]:
    """Yield what grading one assignment needs of the kit: path in the zip, file.

    Raises:
        KitError: the versions of packages are not pinned, where this kit lies.
    """
    root = assignment.root
    if not (root / "requirements.lock").is_file():
        raise KitError(f"{root} has no requirements.lock, which Gradescope installs.")
    yield "requirements.lock", root / "requirements.lock"
    engine = Path(autograder.__file__).parent
    for path in _list_files(engine):
        yield f"autograder/{path.relative_to(engine).as_posix()}", path
    shared = root / "assignments" / "checking"
    for folder in (shared, assignment.public_dir, assignment.solution_dir, assignment.template_dir):
        for path in _list_files(folder):
            if not path.is_relative_to(assignment.gallery_dir):
                yield path.relative_to(root).as_posix(), path


def _list_files(folder: Path) -> list[Path]:
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix in SUFFIXES
        and "__pycache__" not in path.parts
        and stat.S_ISREG(path.lstat().st_mode)
    )
