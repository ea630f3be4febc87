"""Folders and files that may be read, whether they lie on disk or in an archive.

What must not be read never becomes a part of a tree: links, devices, junk that tools
leave behind, paths that lead out of an archive, anything above the limits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

MIB = 1 << 20
MAX_SOURCE = 1 * MIB  # a .py file
MAX_NOTEBOOK = 20 * MIB  # notebooks carry their pictures
MAX_ARCHIVE = 50 * MIB  # one student's archive
MAX_TOTAL = 100 * MIB  # read for one student
MAX_ENTRIES = 2000  # files and folders of one student
MAX_DEPTH = 8  # folders within folders
MAX_NESTING = 3  # archives within archives
MAX_RATIO = 200  # unpacked to packed size, above one MiB

_JUNK = {
    "__macosx", "__pycache__", "node_modules", "site-packages", "venv", "env",
    "thumbs.db", "desktop.ini", "timestamp.txt",
}  # fmt: skip


class Refused(Exception):
    """Something that is not read; the message says why, for the student and for staff."""


@dataclass(frozen=True)
class File:
    """A regular file; `read` returns its bytes or raises `Refused`, also when above `limit`."""

    name: str
    size: int
    read: Callable[[int], bytes]  # limit in bytes


@dataclass
class Folder:
    """A folder, and why some of its entries are not in it."""

    name: str
    folders: list["Folder"] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)  # name, reason

    @property
    def is_empty(self) -> bool:
        return not (self.folders or self.files or self.refused)


def is_junk(name: str) -> bool:
    """Tell whether a file or folder is left behind by a tool rather than handed in."""
    return name.startswith((".", "._", "~$")) or name.casefold() in _JUNK


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
