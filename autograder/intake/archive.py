"""Reads zip archives in memory: nothing is unpacked to disk, no size is believed."""

import functools
import io
import stat
import zipfile
from pathlib import Path
from typing import IO

from autograder.intake.tree import MAX_ENTRIES, MAX_RATIO, MIB, Builder, Folder, Refused

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
    builder = Builder(name)
    for info in infos:
        read = functools.partial(_read, archive, info)
        builder.add(_decode_name(info), info.file_size, read, _find_reason(info))
    return builder.finish()


def _decode_name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name, also when it is UTF-8 that does not say so, as macOS writes it."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _find_reason(info: zipfile.ZipInfo) -> str:
    """Return why an entry must not be read, or nothing."""
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a symbolic link, which is not followed"
    if info.flag_bits & 0x1:
        return "is encrypted; hand in an archive without a password"
    if info.file_size > MIB and info.file_size > MAX_RATIO * max(info.compress_size, 1):
        return "unpacks to far more than it should"
    return ""


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
