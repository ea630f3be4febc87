"""Folders and files that may be read, whether they lie on disk or in an archive.

What must not be read never becomes a part of a tree: links, devices, junk that tools
leave behind, paths that lead out of an archive, anything above the limits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

MIB = 1 << 20
MAX_SOURCE = 1 * MIB  # a .py file
MAX_NOTEBOOK = 20 * MIB  # notebooks carry their pictures
MAX_ARCHIVE = 50 * MIB  # one student's archive
MAX_TOTAL = 100 * MIB  # read for one student
MAX_ENTRIES = 2000  # files and folders of one student
MAX_DEPTH = 8  # folders within folders
MAX_NESTING = 3  # archives within archives
MAX_RATIO = 200  # unpacked to packed size, above one MiB

_MOODLE = "_assignsubmission_"
_JUNK = {
    "__macosx", "__pycache__", "node_modules", "site-packages", "venv", "env",
    "thumbs.db", "desktop.ini",
}  # fmt: skip


class Refused(Exception):
    """Something that is not read; the message says why, for the student and for staff."""


@dataclass(frozen=True)
class File:
    """A regular file; `read` returns its bytes or raises `Refused`, also when above `limit`."""

    name: str
    size: int
    read: Callable[[int], bytes]  # limit in bytes
    disk: Path | None = None  # where it lies, unless in an archive


@dataclass
class Folder:
    """A folder, and why some of its entries are not in it."""

    name: str
    folders: list["Folder"] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)  # name, reason
    disk: Path | None = None  # where it lies, unless in an archive


class Builder:
    """Builds a folder from the entries of an archive; of those with one path the last wins."""

    def __init__(self, name: str) -> None:
        self._folders: dict[tuple[str, ...], Folder] = {(): Folder(name)}
        self._files: dict[tuple[str, ...], File] = {}

    def add(self, path: str, size: int, read: Callable[[int], bytes], reason: str = "") -> None:
        """Put an entry where its path says, unless there is a reason not to read it."""
        path = path.replace("\\", "/")
        parts = tuple(part for part in path.split("/") if part not in ("", "."))
        if not parts or any(is_junk(part) for part in parts if part != ".."):
            return
        if ".." in parts or path.startswith("/") or ":" in parts[0]:
            reason = "has a path that leads out of the archive"
        elif not reason and len(parts) > MAX_DEPTH:
            reason = "lies too deep in other folders"
        if reason:
            self._folders[()].refused.append(("/".join(parts), reason))
        elif path.endswith("/"):
            self._enter(parts)
        else:
            self._files[parts] = File(parts[-1], size, read)

    def finish(self) -> Folder:
        """Return the folder with everything in its place."""
        for parts, file in self._files.items():
            self._enter(parts[:-1]).files.append(file)
        return self._folders[()]

    def _enter(self, parts: tuple[str, ...]) -> Folder:
        if parts not in self._folders:
            self._folders[parts] = Folder(parts[-1])
            self._enter(parts[:-1]).folders.append(self._folders[parts])
        return self._folders[parts]


def is_junk(name: str) -> bool:
    """Tell whether a file or folder is left behind by a tool rather than handed in."""
    if _MOODLE in name and not name.startswith("._"):
        return False  # it begins with a student's name, which may be any
    return name.startswith((".", "~$")) or name.casefold() in _JUNK


def walk(folder: Folder, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], File]]:
    """Yield every file with the names of the folders above it; shallow ones first, by name."""
    for file in sorted(folder.files, key=lambda file: file.name):
        yield above, file
    for inner in sorted(folder.folders, key=lambda inner: inner.name):
        yield from walk(inner, (*above, inner.name))


def walk_refused(folder: Folder, above: str = "") -> Iterator[tuple[str, str]]:
    """Yield path and reason of everything in a folder that is not read."""
    for name, reason in folder.refused:
        yield above + name, reason
    for inner in folder.folders:
        yield from walk_refused(inner, f"{above}{inner.name}/")
