"""Reads folders on disk: regular files only, links never followed."""

import os
import stat
from pathlib import Path

from autograder.intake.tree import MAX_DEPTH, MAX_ENTRIES, File, Folder, Refused, is_junk

LINK = "is a symbolic link, which is not followed"
_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


def make_file(path: Path) -> File:
    """Return a file to be read later.

    Raises:
        Refused: a link, a device, a pipe: anything but a regular file.
    """
    try:
        status = path.lstat()
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from error
    if stat.S_ISLNK(status.st_mode):
        raise Refused(LINK)
    if not stat.S_ISREG(status.st_mode):
        raise Refused("is not a regular file")
    return File(path.name, status.st_size, lambda limit: read_file(path, limit), path)


def read_file(path: Path, limit: int) -> bytes:
    """Return the bytes of a regular file.

    Raises:
        Refused: not a regular file by now, not readable, or larger than `limit`.
    """
    try:
        with os.fdopen(os.open(path, _FLAGS | getattr(os, "O_BINARY", 0)), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise Refused("is not a regular file")
            data = stream.read(limit + 1)
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from error
    if len(data) > limit:
        raise Refused(f"is larger than {limit >> 20} MiB")
    return data


def read_folder(
    path: Path, *, max_depth: int = MAX_DEPTH, max_entries: int = MAX_ENTRIES
) -> Folder:
    """List a folder and everything in it, down to the limits.

    Raises:
        Refused: the folder is a link or cannot be listed.
    """
    if path.is_symlink():
        raise Refused(LINK)
    return _list(path, max_depth, [max_entries])


def _list(path: Path, depth_left: int, entries_left: list[int]) -> Folder:
    """List one folder; `entries_left` is one number shared by all folders of a student."""
    folder = Folder(path.name, disk=path)
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        raise Refused(f"cannot be read: {error.strerror}") from error
    for name in names:
        if is_junk(name):
            continue
        if not entries_left[0]:
            folder.refused.append((name, "is one of more files than are looked at"))
            break
        entries_left[0] -= 1
        entry = path / name
        try:
            if stat.S_ISDIR(entry.lstat().st_mode):
                if not depth_left:
                    raise Refused("lies too deep in other folders")
                folder.folders.append(_list(entry, depth_left - 1, entries_left))
            else:
                folder.files.append(make_file(entry))
        except Refused as refusal:
            folder.refused.append((name, str(refusal)))
        except OSError as error:
            folder.refused.append((name, f"cannot be read: {error.strerror}"))
    return folder
