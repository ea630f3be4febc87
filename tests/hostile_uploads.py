"""Attacks that are shapes of uploads: links, archives, sizes, names. Git can hold none of them.

`UPLOADS` maps a name to a function that writes one or more entries into the folder of a class;
it returns the names of the entries that an instructor must find accounted for. `NAMES` are names
of students and files as payload. The exercise file of the demonstration kit is `layer.py`.
"""

from __future__ import annotations

import io
import json
import os
import socket
import stat
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

SECRET = "kept-from-students-4711"
"""Stands in a file beside the class; must not get into anything."""

LAYER = b"class Layer:\n    pass\n"
Upload = Callable[[Path], list[str]]
UPLOADS: dict[str, Upload] = {}

NAMES = {
    "newline": "ada\nscore,100\r\nbob",
    "right to left": "\u202egpj.ada\u2066\u200b",
    "leading dash": "-rf",
    "two dashes": "--out=x",
    "dots": "...",
    "hidden by dots": "..ada",
    "blank": " ",
    "device of Windows": "CON",
    "device with an ending": "nul.txt",
    "formula": '=HYPERLINK("http:∕∕127.0.0.1:9","ada")',
    "formula by at": "@SUM(1+1)",
    "formula by tab": "\t=1+1",
    "formula by plus": "+1+1",
    "semicolon and quotes": '";"=1;\'',
    "HTML": "<img src=x onerror=alert(1)>",
    "HTML in quotes": "\"><script>alert(1)<'",
    "Markdown": "![x](http:∕∕127.0.0.1:9) [a](javascript:alert(1))",
    "template": "{{ 7 * 7 }}{% raw %}${x}%s%n",
    "shell": "$(touch autograder-forged-20);`id`|&",
    "ANSI": "\x1b[2J\x1b]0;forged\x07ada\x9b31m",
    "emoji": "👩‍🏫🏴‍☠️ﷺ",
    "homoglyph": "\u0430da",
    "of the output": "grades.csv",
    "of the output, shouted": "REPORT.HTML",
    "of the maxima": "MAXIMUM",
    "of the lock": ".writable",
    "long": "a" * 250,
    "long in bytes": "é" * 120,
    "composed": "Zoe\u0301",
    "decomposed": "Zo\u00e9",
    "full width": "\uff21da",
}


def upload(write: Upload) -> Upload:
    UPLOADS[write.__name__] = write
    return write


def make_zip(
    members: list[tuple[str | zipfile.ZipInfo, bytes]], method: int = zipfile.ZIP_DEFLATED
) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", method) as archive:
        warnings.simplefilter("ignore")  # names that stand twice are wanted here
        for name, data in members:
            archive.writestr(name, data)
    return stream.getvalue()


def link_to(name: str, target: str) -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info, target.encode()


def one(folder: Path, name: str, data: bytes) -> list[str]:
    (folder / name).write_bytes(data)
    return [name]


# --- paths and links in archives --------------------------------------------------------------


@upload
def paths_that_lead_out(folder: Path) -> list[str]:
    names = [
        "../layer.py",
        "/tmp/autograder-forged-21",
        "a/../../../autograder-forged-21",
        "..\\..\\layer.py",
    ]
    names += [
        "C:\\layer.py",
        "C:layer.py",
        "\\\\host\\share\\layer.py",
        "./../layer.py",
        "a/./../../layer.py",
        "../",
    ]
    return one(folder, "eve.zip", make_zip([(name, LAYER) for name in names]))


@upload
def links_in_an_archive(folder: Path) -> list[str]:
    secret = str(folder.parent / "secret")
    members = [
        link_to("layer.py", secret + "/layer.py"),
        link_to("deep", secret),
        ("deep/block.py", LAYER),
    ]
    members += [link_to("block.py", "../secret/layer.py"), link_to("loop", "loop")]
    return one(folder, "eve.zip", make_zip(members))


@upload
def special_files_in_an_archive(folder: Path) -> list[str]:
    members: list[tuple[str | zipfile.ZipInfo, bytes]] = []
    for kind in (stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK, stat.S_IFDIR):
        info = zipfile.ZipInfo("layer.py")
        info.create_system, info.external_attr = 3, (kind | 0o7777) << 16
        members.append((info, LAYER))
    return one(folder, "eve.zip", make_zip(members))


@upload
def one_path_twice(folder: Path) -> list[str]:
    with_warning = make_zip([("layer.py", LAYER), ("layer.pi", b"raise SystemExit\n")])
    return one(folder, "eve.zip", with_warning.replace(b"layer.pi", b"layer.py"))


@upload
def a_file_that_is_a_folder_too(folder: Path) -> list[str]:
    return one(
        folder,
        "eve.zip",
        make_zip([("layer.py", LAYER), ("layer.py/", b""), ("layer.py/layer.py", LAYER)]),
    )


@upload
def names_that_differ_in_case_only(folder: Path) -> list[str]:
    names = [
        "layer.py",
        "Layer.py",
        "LAYER.PY",
        "a/layer.py",
        "A/layer.py",
        "laye\u0280.py",
        "layer.py ",
    ]
    return one(folder, "eve.zip", make_zip([(name, LAYER) for name in names]))


@upload
def odd_names_in_an_archive(folder: Path) -> list[str]:
    members: list[tuple[str | zipfile.ZipInfo, bytes]] = [
        (name + "/layer.py", LAYER) for name in NAMES.values()
    ]
    members += [(name + ".py", LAYER) for name in NAMES.values()]
    members += [("x" * 60_000 + ".py", LAYER), ("/".join(["deep"] * 5000) + "/layer.py", LAYER)]
    data = make_zip([*members, ("nul-name.py", LAYER), ("bad-name.py", LAYER)])
    return one(
        folder,
        "eve.zip",
        data.replace(b"nul-name", b"nul\0name").replace(b"bad-name", b"bad\xff\xfename"),
    )


# --- sizes and damage -------------------------------------------------------------------------


@upload
def bomb_by_ratio(folder: Path) -> list[str]:
    return one(folder, "eve.zip", make_zip([("layer.py", bytes(192 << 20)), ("block.py", LAYER)]))


@upload
def bomb_that_lies_about_its_size(folder: Path) -> list[str]:
    data = make_zip([("layer.py", bytes(64 << 20))])
    return one(folder, "eve.zip", data.replace(struct.pack("<L", 64 << 20), struct.pack("<L", 100)))


@upload
def bomb_of_many_lies(folder: Path) -> list[str]:
    data = make_zip([(f"layer ({n}).py", bytes(1 << 20)) for n in range(400)])
    return one(folder, "eve.zip", data.replace(struct.pack("<L", 1 << 20), struct.pack("<L", 999)))


@upload
def bomb_in_layers(folder: Path) -> list[str]:
    data = make_zip([("layer.py", bytes(4 << 20))])
    for depth in range(8):
        data = make_zip([(f"{depth}-{n}.zip", data) for n in range(8)])
    return one(folder, "eve.zip", data)


@upload
def bomb_of_entries(folder: Path) -> list[str]:
    return one(
        folder,
        "eve.zip",
        make_zip([(f"{n}/layer.py", b"") for n in range(20_000)], zipfile.ZIP_STORED),
    )


@upload
def entries_that_overlap(folder: Path) -> list[str]:
    """Many entries of the directory share the bytes of one: small to send, large to read."""
    name, packed = b"layer.py", zlib.compress(bytes(1 << 20), 9)[2:-4]
    sizes = struct.pack("<LLL", zlib.crc32(bytes(1 << 20)), len(packed), 1 << 20)
    local = (
        b"PK\3\4"
        + struct.pack("<HHHHH", 20, 0, 8, 0, 33)
        + sizes
        + struct.pack("<HH", len(name), 0)
        + name
    )
    entry = b"PK\1\2" + struct.pack("<HHHHHH", 20, 20, 0, 8, 0, 33) + sizes
    entry += struct.pack("<HHHHHLL", len(name), 0, 0, 0, 0, 0, 0)
    entries = b"".join(entry + b"laye%d.py" % (n % 10) for n in range(1500)).replace(
        b"laye1.py", name
    )
    end = b"PK\5\6" + struct.pack(
        "<HHHHLLH", 0, 0, 1500, 1500, len(entries), len(local + packed), 0
    )
    return one(folder, "eve.zip", local + packed + entries + end)


@upload
def an_archive_in_itself(folder: Path) -> list[str]:
    data = make_zip([("layer.py", LAYER)])
    for _ in range(60):
        data = make_zip([("inner.zip", data)])
    return one(folder, "eve.zip", data)


@upload
def encrypted(folder: Path) -> list[str]:
    data = bytearray(make_zip([("layer.py", LAYER)]))
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + place] |= 1
    return one(folder, "eve.zip", bytes(data))


def _vary(
    name: str, change: Callable[[bytearray], None], method: int = zipfile.ZIP_DEFLATED
) -> None:
    def write(folder: Path) -> list[str]:
        data = bytearray(make_zip([("layer.py", LAYER * 50), ("block.py", LAYER * 50)], method))
        change(data)
        return one(folder, "eve.zip", bytes(data))

    UPLOADS[name] = write


def _cut(share: float) -> Callable[[bytearray], None]:
    return lambda data: data.__delitem__(slice(int(len(data) * share), None))


def _put(mark: bytes, place: int, new: bytes) -> Callable[[bytearray], None]:
    def change(data: bytearray) -> None:
        start = 0
        while (found := data.find(mark, start)) >= 0:
            data[found + place : found + place + len(new)] = new
            start = found + 4

    return change


for _share in (0.1, 0.5, 0.9, 0.99):
    _vary(f"truncated at {_share}", _cut(_share))
_vary("unknown method", _put(b"PK\1\2", 10, struct.pack("<H", 99)))
_vary("method that differs", _put(b"PK\1\2", 10, struct.pack("<H", 14)))
_vary("method that is bzip2", _put(b"PK\1\2", 10, struct.pack("<H", 12)))
_vary("method of the future", _put(b"PK\1\2", 10, struct.pack("<H", 93)))
_vary("version of the future", _put(b"PK\1\2", 6, b"\xff\xff"))
_vary("offset beyond the end", _put(b"PK\1\2", 42, b"\xfe\xff\xff\xff"))
_vary("directory beyond the end", _put(b"PK\5\6", 16, b"\xfe\xff\xff\xff"))
_vary("directory larger than the file", _put(b"PK\5\6", 12, b"\xff\xff\xff\x7f"))
_vary("comment longer than the file", _put(b"PK\5\6", 20, b"\xff\xff"))
_vary("negative sizes", _put(b"PK\1\2", 20, b"\xff" * 8))
_vary("impossible dates", _put(b"PK\1\2", 12, b"\xff\xff\xff\xff"))
_vary("dates of zero", _put(b"PK\1\2", 12, bytes(4)))
_vary("encrypted by AES", _put(b"PK\1\2", 8, b"\x41\x00"))
_vary("patched data", _put(b"PK\1\2", 8, b"\x20\x00"))
_vary("damaged LZMA", lambda data: data.__setitem__(slice(38, 60), b"\xff" * 22), zipfile.ZIP_LZMA)
_vary(
    "damaged LZMA properties",
    lambda data: data.__setitem__(slice(40, 44), b"\x00\x00\x05\x00"),
    zipfile.ZIP_LZMA,
)
_vary(
    "LZMA with a huge dictionary",
    lambda data: data.__setitem__(slice(43, 47), b"\xff\xff\xff\xff"),
    zipfile.ZIP_LZMA,
)
_vary(
    "damaged bzip2", lambda data: data.__setitem__(slice(38, 60), b"\xff" * 22), zipfile.ZIP_BZIP2
)
_vary("damaged deflate", lambda data: data.__setitem__(slice(38, 60), b"\xff" * 22))


@upload
def zip64_with_impossible_numbers(folder: Path) -> list[str]:
    names = []
    for number, (size, offset) in enumerate(
        [(2**64 - 1, 0), (10, 2**63), (2**63, 2**62), (10, 2**64 - 1)]
    ):
        extra = struct.pack("<HHQQQ", 1, 24, size, size, offset)
        local = (
            b"PK\3\4"
            + struct.pack("<HHHHHLLLHH", 45, 0, 0, 0, 33, 0, 21, 21, 8, 0)
            + b"layer.py"
            + LAYER
        )
        entry = b"PK\1\2" + struct.pack(
            "<HHHHHHLLLHHHHHLL",
            45,
            45,
            0,
            0,
            0,
            33,
            0,
            2**32 - 1,
            2**32 - 1,
            8,
            28,
            0,
            0,
            0,
            0,
            2**32 - 1,
        )
        entry += b"layer.py" + extra
        end = b"PK\5\6" + struct.pack("<HHHHLLH", 0, 0, 1, 1, len(entry), len(local), 0)
        names += one(folder, f"eve{number}.zip", local + entry + end)
    return names


@upload
def extra_fields_without_sense(folder: Path) -> list[str]:
    info = zipfile.ZipInfo("layer.py")
    info.extra = struct.pack("<HH", 0x7075, 5) + b"\x01\0\0\0\0"
    other = zipfile.ZipInfo("block.py")
    other.extra = struct.pack("<HHL", 0xCAFE, 4, 7)
    data = make_zip([(info, LAYER), (other, LAYER)])
    return one(
        folder,
        "eve.zip",
        data.replace(struct.pack("<HH", 0xCAFE, 4), struct.pack("<HH", 1, 60_000)),
    )


@upload
def not_what_the_ending_says(folder: Path) -> list[str]:
    names = one(folder, "eve.zip", LAYER) + one(
        folder, "mallory.py", make_zip([("layer.py", LAYER)])
    )
    names += one(folder, "trudy.ipynb", b"PK\3\4") + one(
        folder, "oscar.zip", b"#!/bin/sh\n" + make_zip([("layer.py", LAYER)])
    )
    return names


# --- sources and notebooks --------------------------------------------------------------------


def source_of(name: str, *sources: bytes) -> None:
    def write(folder: Path) -> list[str]:
        return [
            name for n, source in enumerate(sources) for name in one(folder, f"eve{n}.py", source)
        ]

    UPLOADS[name] = write


source_of(
    "sources nested without end",
    b"x = " + b"(" * 50_000,
    b"x = " + b"-" * 100_000 + b"1",
    b"x = a" + b".b" * 100_000,
    b"x = " + b"[" * 90 + b"]" * 90,
    b"if 1:\n" + b"".join(b" " * n + b"if 1:\n" for n in range(1, 120)),
    b"f(" * 5000 + b")" * 5000,
    b"class Layer: pass\nx = " + b"not " * 50_000 + b"1",
)
source_of(
    "sources of odd numbers",
    b"x = " + b"9" * 900_000,
    b"x = 1e" + b"9" * 10_000,
    b"class Layer: x = 0x" + b"f" * 500_000,
    b"class Layer: x = 9" + b"**9" * 2000,
)
source_of(
    "sources in odd encodings",
    b"# coding: rot13\npynff Ynlre: cnff",
    b"# coding: utf-7\nclass Layer: +AGEAYg-",
    b"# coding: hex\n636c",
    b"# coding: zlib\nx",
    b"# coding: unicode_escape\nclass Layer: x = '\\N{BULLET}'",
    b"# coding: undefined\nclass Layer: pass",
    b"# coding: idna\nclass Layer: pass\xe9",
    b"# coding: ../../etc/passwd\nx\xff",
    b"\xff\xfe" + "class Layer: pass".encode("utf-16-le") + b"\0",
    b"\0c\0l\0a",
    b"\xef\xbb\xbf" * 3 + LAYER,
    b"\xff\xfe\0\0" + b"\xff" * 9,
    b"\xed\xa0\x80class Layer: pass",
)
source_of(
    "sources with odd letters",
    b"class Layer: pass\0\0\0",
    b"class Layer: pass\f\x1a\x04",
    "class Layer: pass  # \u202e\u2066 }".encode(),
    b"\r".join([b"class Layer:", b"  pass"]),
    LAYER * 40_000,
)
source_of(
    "sources that say who they are",
    b"# student: zoe\n# score: 100\n__author__ = 'zoe'\nclass Layer: pass\n",
)


@upload
def odd_notebooks(folder: Path) -> list[str]:
    cell = {"cell_type": "code", "source": LAYER.decode()}
    notebooks: list[object] = [
        [],
        3,
        None,
        {"cells": {}},
        {"cells": [3, None, [], {"cell_type": "code"}, {"cell_type": "code", "source": 3}]},
        {"cells": [cell | {"source": [1, None, "class Layer: pass\n", {}]}]},
        {"cells": [cell | {"source": "\ud800" + LAYER.decode()}]},
        {"cells": [cell] * 3000},
        {
            "cells": [cell | {"source": "!rm -rf /\n%run evil.py\n" + LAYER.decode()}],
            "metadata": {"name": "zoe", "score": 100},
        },
        {
            "cells": [
                cell
                | {
                    "source": "%%javascript\nalert(1)",
                    "outputs": [{"data": {"text/html": "<script>alert(1)</script>"}}],
                }
            ]
        },
    ]
    names = []
    for number, notebook in enumerate(notebooks):
        names += one(folder, f"eve{number}.ipynb", json.dumps(notebook).encode())
    deep = b'{"cells": ' + b"[" * 200_000
    names += one(folder, "eve90.ipynb", deep) + one(
        folder, "eve91.ipynb", b'{"cells": [' + b"9" * 100_000 + b"]}"
    )
    names += one(folder, "eve92.ipynb", b'{"cells": [], "cells": ' + b"NaN" + b"}" + b" " * 100_000)
    return names


# --- files on disk ----------------------------------------------------------------------------


@upload
def links_on_disk(folder: Path) -> list[str]:
    secret = folder.parent / "secret"
    (folder / "eve").mkdir()
    (folder / "eve" / "layer.py").symlink_to(secret / "layer.py")
    (folder / "eve" / "block.py").symlink_to("../../secret/layer.py")
    (folder / "eve" / "deep").symlink_to(secret)
    (folder / "eve" / "loop").symlink_to("loop")
    (folder / "eve" / "up").symlink_to("..")
    (folder / "eve" / "gone.py").symlink_to("/nonexistent/layer.py")
    (folder / "eve" / "memory.py").symlink_to("/dev/zero")
    (folder / "mallory").symlink_to(secret)
    (folder / "trudy.py").symlink_to(secret / "layer.py")
    (folder / "oscar.zip").symlink_to("/dev/zero")
    return ["eve", "mallory", "trudy.py", "oscar.zip"]


@upload
def special_files_on_disk(folder: Path) -> list[str]:
    (folder / "eve").mkdir()
    os.mkfifo(folder / "eve" / "layer.py")
    os.mkfifo(folder / "mallory.py")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(folder / "eve")  # names of sockets must be short
        server.bind("block.py")
        os.chdir(here)
    return ["eve", "mallory.py"]


@upload
def a_file_of_many_gigabytes(folder: Path) -> list[str]:
    for name in ("eve.py", "mallory.zip", "trudy.ipynb"):
        with (folder / name).open("wb") as file:
            file.truncate(64 << 30)
    return ["eve.py", "mallory.zip", "trudy.ipynb"]


@upload
def folders_without_end(folder: Path) -> list[str]:
    place = folder / "eve"
    for _ in range(100):
        place = place / "deeper"
    place.mkdir(parents=True)
    (place / "layer.py").write_bytes(LAYER)
    return ["eve"]


@upload
def thousands_of_files(folder: Path) -> list[str]:
    (folder / "eve").mkdir()
    for number in range(3000):
        (folder / "eve" / f"layer ({number}).py").write_bytes(b"")
    return ["eve"]


@upload
def a_folder_with_the_name_of_a_file(folder: Path) -> list[str]:
    (folder / "eve" / "layer.py" / "block.py").mkdir(parents=True)
    (folder / "eve" / "layer.py" / "layer.py").write_bytes(LAYER)
    (folder / "mallory.zip").mkdir()
    (folder / "mallory.zip" / "layer.py").write_bytes(LAYER)
    (folder / "trudy.py").mkdir()
    return ["eve", "mallory.zip", "trudy.py"]


@upload
def a_file_that_is_another_students(folder: Path) -> list[str]:
    (folder / "eve").mkdir()
    os.link(folder / "zoe" / "layer.py", folder / "eve" / "layer.py")
    return ["eve"]


@upload
def names_as_payload(folder: Path) -> list[str]:
    names = []
    for name in NAMES.values():
        if name in ("..", ".") or name.startswith("."):
            continue
        (folder / name).mkdir()
        (folder / name / "layer.py").write_bytes(LAYER)
        (folder / name / (name[:60] + ".txt")).write_bytes(b"")
        names.append(name)
    return names


@upload
def bytes_that_are_no_text_as_names(folder: Path) -> list[str]:
    name = os.fsencode(folder) + b"/eve\xff\xfe\x80"
    os.mkdir(name)
    with open(name + b"/layer\xff.py", "wb") as file:
        file.write(LAYER)
    return [os.fsdecode(b"eve\xff\xfe\x80")]
