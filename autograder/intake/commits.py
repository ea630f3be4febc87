"""When the newest commit of a repository was made, read from its files.

Git itself is never run: the settings in a repository can make it run programs, and its references
can lead out of the folder. Only folders and regular files are read, no more of each than needed.
"""

import os
import re
import stat
import zlib
from datetime import datetime, timedelta, timezone
from pathlib import Path

from autograder.intake.disk import read_file
from autograder.intake.tree import MIB, Refused

# A repository can be damaged in any place, and each layer below complains in its own way.
_BROKEN = (Exception,)
MAX_FILES = 100_000
MAX_SMALL = 1 << 16  # bytes of HEAD, and of a commit up to its message
_SHA = re.compile(r"[0-9a-f]{40}")
_REF = re.compile(r"refs/heads/[\w./+@-]{1,200}")
_COMMITTER = re.compile(rb"^committer .*> (?P<seconds>\d{1,12}) (?P<zone>[+-]\d{4})$", re.MULTILINE)


def read_commit_time(folder: Path) -> datetime | None:
    """Return the time of the newest commit, or None where it cannot be read."""
    git = folder / ".git"
    try:
        _check(git)
        sha = _read_head(git)
        header = _read_loose(git, sha) or _read_packed(git, sha)
        found = _COMMITTER.search(header.split(b"\n\n", 1)[0])
        if found is None:
            return None
        hours, minutes = int(found["zone"][:3]), int(found["zone"][0:1] + found["zone"][3:])
        offset = timezone(timedelta(hours=hours, minutes=minutes))
        return datetime.fromtimestamp(int(found["seconds"]), offset)
    except _BROKEN:
        return None


def _check(git: Path) -> None:
    """Refuse what is not made of folders and regular files alone, or refers to other places."""
    count = 0
    for home, folders, files in os.walk(git):
        count += len(folders) + len(files)
        if count > MAX_FILES:
            raise Refused("has too many files")
        for name in (*folders, *files):
            mode = (Path(home) / name).lstat().st_mode
            is_plain = stat.S_ISDIR(mode) or stat.S_ISREG(mode)
            if not is_plain or name in ("alternates", "commondir"):
                raise Refused("leads elsewhere")


def _read_head(git: Path) -> str:
    """Return the id of the commit that is checked out."""
    head = read_file(git / "HEAD", MAX_SMALL).decode("ascii").strip()
    if not head.startswith("ref: "):
        return _take_sha(head)
    ref = head.removeprefix("ref: ")
    if not _REF.fullmatch(ref) or ".." in ref:
        raise Refused("leads elsewhere")
    if (git / ref).is_file():
        return _take_sha(read_file(git / ref, MAX_SMALL).decode("ascii").strip())
    for line in read_file(git / "packed-refs", MIB).decode("utf-8", "replace").splitlines():
        sha, _, name = line.partition(" ")
        if name == ref and _SHA.fullmatch(sha):
            return sha
    raise Refused("has no commit")


def _take_sha(text: str) -> str:
    if not _SHA.fullmatch(text):
        raise Refused("has no commit")
    return text


def _read_loose(git: Path, sha: str) -> bytes:
    """Return the beginning of an object that lies by itself, or nothing."""
    path = git / "objects" / sha[:2] / sha[2:]
    if not path.is_file():
        return b""
    data = zlib.decompressobj().decompress(read_file(path, MIB), MAX_SMALL)
    kind, _, body = data.partition(b"\0")
    return body if kind.startswith(b"commit ") else b""


def _read_packed(git: Path, sha: str) -> bytes:
    from dulwich.object_store import DiskObjectStore
    from dulwich.objects import ObjectID

    store = DiskObjectStore(str(git / "objects"))
    try:
        return bytes(store[ObjectID(sha.encode("ascii"))].as_raw_string()[:MAX_SMALL])
    finally:
        store.close()
