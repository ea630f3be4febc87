"""A folder for workers where the kernel gives them none of their own: at level `process`.

Its zygote removes it. Where the zygote was killed, the next one does: a folder that nobody holds a
lock on has no owner any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "autograder-"


def make() -> str:
    """A new folder, this process's for as long as it lives; removes those without an owner."""
    place = Path(tempfile.gettempdir())
    for path in place.glob(PREFIX + "*"):
        with contextlib.suppress(OSError):
            if path.lstat().st_uid == os.geteuid() and _lock(path) is not None:
                shutil.rmtree(path, ignore_errors=True)
    # Under another name until it is locked, so that no zygote takes it for one without an owner.
    folder = Path(tempfile.mkdtemp(prefix="new-" + PREFIX))
    os.chmod(folder, 0o711)
    _lock(folder)
    return str(folder.rename(folder.with_name(folder.name.removeprefix("new-"))))


def _lock(folder: Path) -> int | None:
    """Locks a folder until this process ends; None where another has."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
