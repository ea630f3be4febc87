"""Reads zip archives in memory: nothing is unpacked to disk, no size is believed."""

import functools
import io
import stat
import zipfile
from pathlib import Path
from typing import IO

from autograder.intake.tree import (
    MAX_DEPTH,
    MAX_ENTRIES,
    MAX_RATIO,
    MIB,
    File,
    Folder,
    Refused,
    is_junk,
)

# An archive can be damaged in any place, and each layer below complains in its own way.
_BROKEN = (Exception,)


def read_archive(source: bytes | Path, name: str, *, max_entries: int = MAX_ENTRIES) -> Folder:
    """List what is in a zip archive.

    Raises:
        Refused: not a zip archive, damaged, or with more entries than are looked at.
    """
    stream: IO[bytes] | Path = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        archive = zipfile.ZipFile(stream)  # stays open for the files read later
        infos = archive.infolist()
    except _BROKEN as error:
        raise Refused("is not a zip archive, or a damaged one") from error
    if len(infos) > max_entries:
        raise Refused(f"holds {len(infos)} entries; at most {max_entries} are looked at")
    tree = _Tree(archive, Folder(name))
    for info in infos:
        tree.place(info)
    return tree.finish()


class _Tree:
    """Builds the folders of an archive; of entries with one path the last wins, as in unzip."""

    def __init__(self, archive: zipfile.ZipFile, root: Folder) -> None:
        self.archive = archive
        self.folders: dict[tuple[str, ...], Folder] = {(): root}
        self.files: dict[tuple[str, ...], File] = {}

    def place(self, info: zipfile.ZipInfo) -> None:
        """Put an entry where its path says, unless it must not be read."""
        path = _decode_name(info).replace("\\", "/")
        parts = tuple(part for part in path.split("/") if part not in ("", "."))
        if not parts or any(is_junk(part) for part in parts if part != ".."):
            return
        try:
            _check(info, path, parts)
        except Refused as refusal:
            self.folders[()].refused.append(("/".join(parts), str(refusal)))
            return
        if path.endswith("/"):
            self._enter(parts)
        else:
            read = functools.partial(_read, self.archive, info)
            self.files[parts] = File(parts[-1], info.file_size, read)

    def finish(self) -> Folder:
        for parts, file in self.files.items():
            self._enter(parts[:-1]).files.append(file)
        return self.folders[()]

    def _enter(self, parts: tuple[str, ...]) -> Folder:
        if parts not in self.folders:
            self.folders[parts] = Folder(parts[-1])
            self._enter(parts[:-1]).folders.append(self.folders[parts])
        return self.folders[parts]


def _decode_name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name, also when it is UTF-8 that does not say so, as macOS writes it."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _check(info: zipfile.ZipInfo, path: str, parts: tuple[str, ...]) -> None:
    """Refuse what must not be read."""
    if ".." in parts or path.startswith("/") or ":" in parts[0]:
        raise Refused("has a path that leads out of the archive")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise Refused("is a symbolic link, which is not followed")
    if len(parts) > MAX_DEPTH:
        raise Refused("lies too deep in other folders")
    if info.flag_bits & 0x1:
        raise Refused("is encrypted; hand in an archive without a password")
    if info.file_size > MIB and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        raise Refused("unpacks to far more than it should")


def _read(archive: zipfile.ZipFile, info: zipfile.ZipInfo, limit: int) -> bytes:
    """Read at most `limit` bytes, whatever the archive says that there are."""
    try:
        with archive.open(info) as stream:
            data = stream.read(limit + 1)
    except _BROKEN as error:
        raise Refused("is damaged inside its archive") from error
    if len(data) > limit:
        raise Refused(f"is larger than {limit >> 20} MiB")
    return data
