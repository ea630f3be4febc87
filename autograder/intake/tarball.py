"""Reads tar archives in memory, packed or not: nothing is unpacked to disk, no size is believed."""

import bz2
import gzip
import io
import lzma
import tarfile
from typing import IO

from autograder.intake.tree import (
    MAX_ENTRIES,
    MAX_NOTEBOOK,
    MAX_TOTAL,
    Builder,
    Folder,
    Refused,
)

ENDINGS = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
_MARKS = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ": lzma.open}
# An archive can be damaged in any place, and each layer below complains in its own way.
_BROKEN = (Exception,)


def read_tarball(data: bytes, name: str) -> Folder:
    """List what is in a tar archive.

    Raises:
        Refused: not a tar archive, damaged, too large when unpacked, or with too many entries.
    """
    builder = Builder(name)
    plain = _unpack(data)
    try:
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as archive:
            for count, member in enumerate(archive):
                if count >= MAX_ENTRIES:
                    raise Refused(f"holds more than {MAX_ENTRIES} entries")
                _add(builder, archive, member)
    except Refused:
        raise
    except _BROKEN as error:
        raise Refused("is not a tar archive, or a damaged one") from error
    return builder.finish()


def _unpack(data: bytes) -> bytes:
    """Return the archive itself, at most as much as may be read for one student."""
    for mark, opener in _MARKS.items():
        if data.startswith(mark):
            try:
                stream: IO[bytes]
                with opener(io.BytesIO(data)) as stream:  # type: ignore[operator]
                    plain = stream.read(MAX_TOTAL + 1)
            except _BROKEN as error:
                raise Refused("is a damaged archive") from error
            if len(plain) > MAX_TOTAL:
                raise Refused("unpacks to far more than it should")
            return plain
    return data


def _add(builder: Builder, archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    if member.isdir():
        builder.add(member.name.rstrip("/") + "/", 0, lambda limit: b"")
        return
    is_plain = member.isreg() and not member.issparse()
    reason = "" if is_plain else "is a link or a special file, which is not followed"
    content = b""
    if is_plain:
        stream = archive.extractfile(member)
        content = stream.read(MAX_NOTEBOOK + 1) if stream else b""

    def read(limit: int) -> bytes:
        if len(content) > limit:
            raise Refused(f"is larger than {limit >> 20} MiB")
        return content

    builder.add(member.name, len(content), read, reason)
