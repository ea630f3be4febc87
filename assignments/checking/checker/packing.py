"""`check.py --submit`: one zip with the files that are graded, whatever state they are in."""

from __future__ import annotations

import ast
import hashlib
import io
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from checker import words
from checker.folder import ASSIGNMENT, EXERCISES, FOLDER, Problem
from checker.kept import keep_cells, read_cells
from checker.statements import Unreadable

EPOCH = (1980, 1, 1, 0, 0, 0)  # the same files make the same zip, whenever it is made
NOTEBOOK = f"{ASSIGNMENT['id']}.ipynb"
ZIP = f"{ASSIGNMENT['id']}-submission.zip"


def submit(with_notebook: bool = False) -> int:
    """Pack, check what was packed, and say what is in it and what is still to come."""
    style = words.Style(sys.stdout)
    packed, remarks = collect(with_notebook)
    digest = write_zip(FOLDER / ZIP, packed)
    print(style.paint("bold", f"Packed into {ZIP}: hand in this one file."))
    for name in sorted(packed):
        print(f"   {name}  ({len(packed[name]):,} bytes)")
    for remark in remarks:
        print(f"   {style.mark('bad')} {remark}")
    print(f"   SHA-256 {digest}")
    print()
    if NOTEBOOK in packed:
        print("The public tests of a notebook are in its own cells: run them there.")
        nothing = dict.fromkeys((exercise["id"] for exercise in EXERCISES), ())
        print(list(words.conclude(EXERCISES, nothing, style))[1])
        return 0
    from checker.judge import judge

    try:
        accounts = words.group(judge(EXERCISES))
    except Problem as problem:
        print(f"The public tests did not run, but the zip is written. {problem}")
        return 0
    for exercise in EXERCISES:
        print(words.headline(exercise, accounts.get(exercise["id"], []), style))
    print("\n".join(list(words.conclude(EXERCISES, accounts, style))[:2]))
    states = {e["file"]: words.state_of(accounts.get(e["id"], [])) for e in EXERCISES}
    unfinished = [file for file, state in states.items() if state != "good"]
    if unfinished:
        print(f"Not finished: {', '.join(unfinished)}. You can hand this in as it is, or go on.")
    return 0


def collect(with_notebook: bool = False) -> tuple[dict[str, bytes], list[str]]:
    """The files to hand in, under their right names, and what should be said about them.

    Raises:
        Problem: there is nothing at all to hand in.
    """
    if with_notebook:
        if not (FOLDER / NOTEBOOK).is_file():
            raise Problem(f"There is no {NOTEBOOK} in {FOLDER}.")
        content = (FOLDER / NOTEBOOK).read_bytes()
        return {NOTEBOOK: content}, list(_remarks_on_notebook(content))
    packed: dict[str, bytes] = {}
    remarks: list[str] = []
    there = sorted(path.name for path in FOLDER.iterdir() if path.is_file())
    for exercise in EXERCISES:
        wanted = exercise["file"]
        found = wanted if wanted in there else _nearly(wanted, there)
        if found is None:
            remarks.append(f"{wanted} is not there: exercise {exercise['number']} gets no points")
            continue
        if found != wanted:
            remarks.append(f"{found} is packed as {wanted}: small and capital letters matter")
        packed[wanted] = (FOLDER / found).read_bytes()
        remarks += _remarks_on(exercise, packed[wanted], there)
    if not packed:
        raise Problem(f"There is nothing to hand in: none of your files is in {FOLDER}.")
    if NOTEBOOK in there and all(_is_stub(e, packed.get(e["file"], b"")) for e in EXERCISES):
        remarks.append(
            f"none of your files has anything of yours in it. If you have worked in {NOTEBOOK}, "
            "hand that in: python check.py --submit notebook"
        )
    return packed, remarks


def write_zip(path: Path, files: dict[str, bytes]) -> str:
    """Write an archive and return its SHA-256; the same files make the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[name])
    path.write_bytes(buffer.getvalue())
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def _nearly(wanted: str, there: Sequence[str]) -> str | None:
    """A file whose name differs from the right one in capital letters alone."""
    return next((name for name in there if name.casefold() == wanted.casefold()), None)


def _remarks_on(exercise: dict[str, Any], content: bytes, there: Sequence[str]) -> Iterator[str]:
    name = exercise["file"]
    if not content.strip():
        yield f"{name} is empty"
        return
    try:
        tree = ast.parse(content)
    except (SyntaxError, ValueError) as error:
        yield f"{name} is not Python yet: {error}"
        return
    if _is_stub(exercise, content):
        yield f"{name} still has parts that are not yet written"
    own = {Path(e["file"]).stem for e in EXERCISES}
    for node in ast.walk(tree):
        modules = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        for module in (m.partition(".")[0] for m in modules):
            if f"{module}.py" in there and module not in own and module != "check":
                yield f"{name} imports {module}.py, which is not handed in: move that code into it"


def _is_stub(exercise: dict[str, Any], content: bytes) -> bool:
    return f'NotImplementedError("{exercise["label"]}")'.encode() in content


def _remarks_on_notebook(content: bytes) -> Iterator[str]:
    yield "only the notebook is packed; your .py files are not, since they would count instead"
    text = content.replace(b'\\"', b'"')  # quotes inside a notebook's strings
    stubs = [exercise["file"] for exercise in EXERCISES if _is_stub(exercise, text)]
    if len(stubs) == len(EXERCISES):
        yield (
            f"nothing in {NOTEBOOK} is written yet. If you have worked in the .py files, "
            "hand them in: python check.py --submit"
        )
    elif stubs:
        yield f"{NOTEBOOK} still has parts that are not yet written: those of {', '.join(stubs)}"
    try:
        cells = read_cells(content.decode("utf-8", "replace"))
    except Unreadable as reason:
        yield f"{NOTEBOOK} {reason}"
        return
    yield from keep_cells(cells, [name for e in EXERCISES for name in e["names"]]).notes
