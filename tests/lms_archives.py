"""A class of 45 as every LMS would export it, with every trap that real uploads hold.

The names of entries follow what the LMS' own code does: Canvas' `lib/content_zipper.rb`, Moodle's
`mod/assign/classes/downloader.php`; for Gradescope what its users parse. Every file says in a
comment whose it is, so that a test can tell whether anything was mixed up.
"""

import csv
import io
import json
import re
import subprocess
import tarfile
import unicodedata
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from demo_kit import BLOCK, LAYER

Files = dict[str, bytes]
BOTH = {"layer.py", "block.py"}

NAMES = (
    """
Ada Lovelace|Zoë Ångström|Seán O'Brien|Jean-Luc Picard|Chen Wei|Chen Wei|Máximo de la Cruz y Ruiz
李 雷|Дарья Иванова|محمد علي|Teller Penn|van der Berg Anna|Nguyễn Thị Minh Khai|Anna Berg|Ann Nab
Mary Ann Smith|Mary Annsmith|Smith Mary|Björn Borg|Bjorn Borg|Q Q|Sukarno Sukarno|R2 D2|Ωmega Sigma
Grace Hopper|Alan Turing|Edsger Dijkstra|Barbara Liskov|Donald Knuth|Margaret Hamilton|Ken Thompson
Dennis Ritchie|Radia Perlman|Tony Hoare|Niklaus Wirth|John Backus|Frances Allen|Leslie Lamport
Shafi Goldwasser|Silvio Micali|Adi Shamir|Whitfield Diffie|Martin Hellman|Judea Pearl|Yann LeCun
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


@dataclass
class Person:
    """A student, what they handed in, and what must be found of it."""

    number: int
    first: str
    last: str
    trap: str = ""
    files: Files = field(default_factory=dict)  # attachments by name
    finds: set[str] = field(default_factory=lambda: set(BOTH))  # exercise files; empty: ungradable
    says: str = ""  # that a note or the reason must hold
    is_late: bool = False

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def login(self) -> str:
        return f"s{self.number:03}"

    @property
    def email(self) -> str:
        return f"{self.login}@uni.example"

    @property
    def canvas_id(self) -> int:
        return 5000 + self.number

    @property
    def moodle_id(self) -> int:
        return 900_000 + self.number

    @property
    def tag(self) -> bytes:
        return b"whose = '%s'" % self.login.encode()


def pack(files: Files) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def pack_tar(files: Files, mode: str = "w:gz") -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def to_utf16(data: bytes) -> bytes:
    return data.decode().encode("utf-16")


def make_notebook(*cells: bytes) -> bytes:
    listed = [{"cell_type": "code", "source": cell.decode()} for cell in cells]
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": listed}
    ).encode()


Trap = tuple[str, Callable[[bytes, bytes], Files], set[str], str]
TRAPS: list[Trap] = [
    ("as asked", lambda a, b: {"layer.py": a, "block.py": b}, BOTH, ""),
    ("one zip", lambda a, b: {"work.zip": pack({"layer.py": a, "block.py": b})}, BOTH, ""),
    ("byte order mark", lambda a, b: {"layer.py": b"\xef\xbb\xbf" + a, "block.py": b}, BOTH, ""),
    ("CRLF", lambda a, b: {"layer.py": a.replace(b"\n", b"\r\n"), "block.py": b}, BOTH, ""),
    ("UTF-16", lambda a, b: {"layer.py": to_utf16(a), "block.py": b}, BOTH, "UTF-16"),
    ("Latin-1", lambda a, b: {"layer.py": a + b"# \xe9\n", "block.py": b}, BOTH, "not in UTF-8"),
    ("tabs", lambda a, b: {"layer.py": a.replace(b"    ", b"\t"), "block.py": b}, BOTH, ""),
    ("py.txt", lambda a, b: {"layer.py.txt": a, "block.py": b}, BOTH, "taken as layer.py"),
    ("numbered", lambda a, b: {"layer (1).py": a, "block-2.py": b}, BOTH, "taken as"),
    ("shouted", lambda a, b: {"Layer.PY": a, "BLOCK.py": b}, BOTH, "taken as layer.py"),
    ("copies", lambda a, b: {"layer copy.py": a, "Copy of block.py": b}, BOTH, "taken as"),
    ("notebook", lambda a, b: {"homework.ipynb": make_notebook(a, b)}, BOTH, "notebook"),
    ("merged", lambda a, b: {"everything.py": a + b}, BOTH, "was taken for it"),
    ("renamed", lambda a, b: {"my_answer_3.py": a, "other.py": b}, BOTH, "was taken for it"),
    (
        "junk of macOS and Windows",
        lambda a, b: {
            "w.zip": pack(
                {"__MACOSX/._layer.py": b"\0", ".DS_Store": b"", "Thumbs.db": b"", "layer.py": a,
                 "block.py": b, ".venv/lib/layer.py": b"raise", "__pycache__/layer.pyc": b"",
                 ".git/config": b"", ".git/HEAD": b"ref: x"}
            )
        },
        BOTH, "",
    ),
    ("wrapped", lambda a, b: {"w.zip": pack({"hw/3/layer.py": a, "hw/3/block.py": b})}, BOTH, ""),
    ("zips", lambda a, b: {"w.zip": pack({"v.zip": pack({"layer.py": a}), "b.py": b})}, BOTH, ""),
    ("rar", lambda a, b: {"work.rar": b"Rar!\x1a\x07\x01\x00" + a}, set(), "hand in a .zip"),
    ("7z", lambda a, b: {"work.7z": b"7z\xbc\xaf\x27\x1c" + a}, set(), "hand in a .zip"),
    ("tar.gz", lambda a, b: {"w.tar.gz": pack_tar({"x/layer.py": a, "x/block.py": b})}, BOTH, ""),
    ("a damaged tar.gz", lambda a, b: {"w.tar.gz": b"\x1f\x8b" + a}, set(), "damaged"),
    ("an empty file", lambda a, b: {"layer.py": a, "block.py": b""}, {"layer.py"}, "y is empty"),
    ("nothing but empty", lambda a, b: {"layer.py": b"", "block.py": b"\n"}, set(), "is empty"),
    ("starter", lambda a, b: {"layer.py": STARTER, "block.py": b}, BOTH, "as it was handed out"),
    ("two", lambda a, b: {"layer.py": a, "layer_old.py": b"x", "block.py": b}, BOTH, "left out"),
    ("report only", lambda a, b: {"report.pdf": b"%PDF-1.7"}, set(), ".pdf"),
    ("damaged", lambda a, b: {"work.zip": pack({"layer.py": a})[:-20]}, set(), "damaged"),
    ("half", lambda a, b: {"layer.py": a}, {"layer.py"}, "block.py is missing"),
    ("broken Python", lambda a, b: {"answer.py": b"def f(:\n"}, set(), "not valid Python"),
    ("underscores", lambda a, b: {"layer.py": a, "block.py": b, "a_1_2_notes.txt": b""}, BOTH, ""),
    (
        "settings of pytest",
        lambda a, b: {"layer.py": a, "block.py": b, "conftest.py": b"raise", "torch.py": b""},
        BOTH, "left out",
    ),
]  # fmt: skip

STARTER = b"class Layer:\n    def forward(self):\n        raise NotImplementedError\n"
ABSENT = (10, 12)  # on every roster, in no archive
LATE = (3, 11, 30)


def make_class() -> list[Person]:
    """Return the class; the first traps come again for the last students."""
    people = []
    for number, name in enumerate(NAMES):
        first, _, last = name.partition(" ")
        person = Person(number, first, last, is_late=number in LATE)
        trap, make, finds, says = TRAPS[number % len(TRAPS)]
        person.trap, person.finds, person.says = trap, set(finds), says
        person.files = make(*(text.replace(b"pass", person.tag) for text in (LAYER, BLOCK)))
        people.append(person)
    return people


def list_present(people: Iterable[Person]) -> list[Person]:
    return [person for person in people if person.number not in ABSENT]


# --- Canvas -------------------------------------------------------------------------------------


def to_canvas_slug(person: Person) -> str:
    """The sortable name, small, without everything that Ruby's [[:word:]] does not match."""
    sortable = f"{person.last}, {person.first}".lower()
    kept = [c for c in sortable if c == "_" or unicodedata.category(c)[0] in "LMN"]
    return "".join(kept)


def make_canvas(people: Iterable[Person], *, anonymous: bool = False) -> Files:
    """Canvas' bulk download: the entries of `<course>-<title> submissions.zip`."""
    entries: Files = {}
    attachment = 70_000
    for person in list_present(people):
        late = ["LATE"] if person.is_late else []
        who = [*late, f"anon_x{person.canvas_id}Z"] if anonymous else [
            to_canvas_slug(person), *late, str(person.canvas_id)
        ]  # fmt: skip
        for name, data in person.files.items():
            attachment += 1
            display = re.sub(r'[\x00/\\:*?"<>|]+', "_", name)
            entries["_".join([*who, str(attachment), display])] = data
    return entries


def make_canvas_gradebook(people: Iterable[Person], title: str = "A demonstration (4711)") -> bytes:
    """What Canvas exports as a gradebook, with a blank score for everybody."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    info = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    writer.writerow([*info, "Warm-up (4700)", title, "Current Score", "Final Score"])
    writer.writerow([""] * 5 + ["", "Manual Posting", "", ""])
    writer.writerow(
        ["    Points Possible", *[""] * 4, "5.00", "10.00", "(read only)", "(read only)"]
    )
    for person in people:
        row = [f"{person.last}, {person.first}", person.canvas_id, f"sis{person.number}"]
        row += [person.login, "Tuesday, 10:00", "4.50", "", "90.00", "45.00"]
        writer.writerow(row)
    writer.writerow(["Student, Test", 9999, "", "a1b2c3", "Tuesday, 10:00", "", "", "", ""])
    return stream.getvalue().encode()


# --- Moodle -------------------------------------------------------------------------------------


def to_moodle_prefix(person: Person) -> str:
    return f"{person.name.replace('_', ' ')}_{person.moodle_id}"


def make_moodle(people: Iterable[Person], *, flat: bool = False, end: str = "") -> Files:
    """Moodle's download: a folder per student, or flat; `end="_"` as older versions had it."""
    entries: Files = {}
    for person in list_present(people):
        prefix = f"{to_moodle_prefix(person)}_assignsubmission"
        for name, data in person.files.items():
            entries[f"{prefix}_file_{name}" if flat else f"{prefix}_file{end}/{name}"] = data
        if person.number % 9 == 0:
            text = b"<p>See my files.</p>"
            between = "_" if flat else f"{end}/"
            entries[f"{prefix}_onlinetext{between}onlinetext.html"] = text
    return entries


def make_moodle_worksheet(people: Iterable[Person]) -> bytes:
    """What Moodle exports as a grading worksheet: with a byte order mark and CRLF."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    writer.writerow(
        ["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum Grade",
         "Grade can be changed", "Last modified (submission)", "Last modified (grade)",
         "Feedback comments"]
    )  # fmt: skip
    for person in people:
        is_here = person.number not in ABSENT
        status = "Submitted for grading - " if is_here else "No submission - "
        time = "Monday, 30 November 2026, 11:58 PM" if is_here else "-"
        if is_here and person.is_late:
            time = "Wednesday, 2 December 2026, 9:05 AM"
        writer.writerow(
            [f"Participant {person.moodle_id}", person.name, person.email, status, "", "10.00",
             "Yes", time, "-", ""]
        )  # fmt: skip
    return b"\xef\xbb\xbf" + stream.getvalue().encode()


# --- Gradescope, nbgrader, git, by hand ---------------------------------------------------------


def make_gradescope(people: Iterable[Person]) -> Files:
    """Gradescope's export: metadata with Ruby's symbols for keys, a folder per submission."""
    lines = ["---"]
    entries: Files = {}
    for person in list_present(people):
        key = f"submission_{880_000 + person.number}"
        time = "2026-12-02 08:05:00" if person.is_late else "2026-11-30 22:58:10.644186000"
        lines += [
            f"{key}:", "  :submitters:", f"  - :name: {json.dumps(person.name)}",
            f"    :sid: 0{person.number:03}", f"    :email: {person.email}",
            f"  :created_at: {time} Z", "  :score: 0.0", "  :status: processed",
            f"  :results: &{person.number + 1} {{}}", "  :history:", "  - :id: 1",
            "    :created_at: 2026-11-29 10:00:00.000000000 Z", "    :score: 0.0",
        ]  # fmt: skip
        for name, data in person.files.items():
            entries[f"assignment_77_export/{key}/{name}"] = data
    metadata = "\n".join([*lines, ""]).encode()
    return {"assignment_77_export/submission_metadata.yml": metadata, **entries}


def make_nbgrader(people: Iterable[Person], assignment: str = "demo") -> Files:
    """The tree `submitted/<student>/<assignment>/` of an nbgrader course."""
    entries: Files = {}
    for person in list_present(people):
        home = f"{person.login}/{assignment}"
        day = "2026-12-02 09:05:00.1" if person.is_late else "2026-11-30 23:58:23.948203"
        entries[f"{home}/timestamp.txt"] = f"{day} Europe/Berlin".encode()
        entries.update({f"{home}/{name}": data for name, data in person.files.items()})
        entries[f"{person.login}/other_homework/layer.py"] = b"raise SystemExit\n"
        entries[f"{person.login}/other_homework/timestamp.txt"] = f"{day} UTC".encode()
    return entries


def write_clones(folder: Path, people: Iterable[Person]) -> None:
    """Clones as a forge's tools lay them down, made with git itself."""
    for person in list_present(people):
        home = folder / f"hw-3-{person.login}"
        home.mkdir(parents=True)
        for name, data in person.files.items():
            (home / name).write_bytes(data)
        when = "2026-12-02T09:05:00+0100" if person.is_late else "2026-11-30T23:58:23+0100"
        settings = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "PATH": "/usr/bin:/bin"}
        settings |= {"HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        for command in (["init", "-q"], ["add", "-A", "-f"], [*who, "commit", "-q", "-m", "done"]):
            subprocess.run(["git", *command], cwd=home, check=True, env=settings)
        if person.number % 2:
            subprocess.run(["git", "gc", "-q"], cwd=home, check=True, env=settings)


def make_loose(people: Iterable[Person]) -> Files:
    """What lies in a folder after a morning of saving attachments: folders, zips, files."""
    entries: Files = {"grades from last year.xlsx": b"", "roster.csv": b"id\n", ".DS_Store": b""}
    for person in list_present(people):
        names = list(person.files)
        if len(names) == 1 and not names[0].startswith(("layer", "block")):
            ending = re.sub(r"^[^.]+", "", names[0])
            entries[person.login + ending] = person.files[names[0]]
        elif person.number % 3:
            entries.update({f"{person.login}/{n}": data for n, data in person.files.items()})
        else:
            entries[f"{person.login}.zip"] = pack(person.files)
    return entries


def make_roster(people: Iterable[Person], *columns: str) -> bytes:
    """Our own roster.csv with the columns asked for."""
    cells: dict[str, Callable[[Person], object]] = {
        "id": lambda p: p.login, "name": lambda p: p.name, "email": lambda p: p.email,
        "section": lambda p: f"T{p.number % 3}", "canvas_id": lambda p: p.canvas_id,
        "moodle_id": lambda p: p.moodle_id, "sis_id": lambda p: f"0{p.number:03}",
    }  # fmt: skip
    stream = io.StringIO()
    writer = csv.writer(stream)
    writer.writerow(columns)
    writer.writerows([[cells[column](person) for column in columns] for person in people])
    return stream.getvalue().encode()
