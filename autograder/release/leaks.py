"""Refuses to hand out what is the staff's: solutions, hidden tests, whatever lies in `solutions/`.

Looks at the finished files, whoever built them, and so does not trust the builders.
"""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Iterator, Mapping

from autograder.assignment import Assignment
from autograder.errors import KitError
from autograder.template import BEGIN, END, build_stubs

SHORTEST = 24  # a line below this says too little to be anybody's
MAX_NAMED = 3


def refuse_leaks(assignment: Assignment, files: Mapping[str, bytes]) -> None:
    """Checks `files`, name to content, that are about to be handed to students.

    Raises:
        KitError: one of them holds something of the staff's; the message says what and where.
    """
    leaks = list(find_leaks(assignment, files))
    if leaks:
        listed = "\n".join(f"  {leak}" for leak in leaks[:MAX_NAMED])
        raise KitError(
            f"not built, since students would get what is the staff's ({len(leaks)}):\n{listed}\n"
            "Take it out of the public files, or mark it as solution in the reference."
        )


def find_leaks(assignment: Assignment, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield a line for each solution line, hidden test or staff file that `files` hold."""
    texts = {name: read_text(name, content) for name, content in files.items()}
    private = dict(_private_lines(assignment))
    for name, text in texts.items():
        for line, origin in private.items():
            if line in text:
                yield f"{name} holds a line of {origin}: {line[:70]}"
        words = set(re.findall(r"\w+", text))
        for test in sorted(hidden_names(assignment) & words):
            yield f"{name} names the hidden test {test}"
    private_files = {
        path.read_bytes(): path
        for path in assignment.solution_dir.rglob("*")
        if path.is_file() and path.stat().st_size > SHORTEST
    }
    for name, content in files.items():
        if content in private_files:
            path = private_files[content].relative_to(assignment.root).as_posix()
            yield f"{name} is {path}"


def read_text(name: str, content: bytes) -> str:
    """Return a file as its reader sees it: of a notebook, the cells and outputs."""
    text = content.decode("utf-8", "replace")
    if name.endswith(".html"):
        return html.unescape(text)
    if not name.endswith(".ipynb"):
        return text
    try:
        return "\n".join(_strings(json.loads(text)))
    except ValueError:
        return text


def hidden_names(assignment: Assignment) -> set[str]:
    """The names of hidden tests that no public test has."""
    hidden, public = (
        {
            node.name
            for path in folder.glob("test_*.py")
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        }
        for folder in (assignment.hidden_tests, assignment.public_tests)
    )
    return hidden - public


def _private_lines(assignment: Assignment) -> Iterator[tuple[str, str]]:
    """Yield lines that are nobody's but the staff's, and the file that they are from."""
    for exercise in assignment.exercises:
        source = (assignment.solution_dir / exercise.file).read_text(encoding="utf-8")
        for part in source.split(BEGIN)[1:]:
            for line in part.split(END)[0].splitlines():
                if len(line.strip()) > SHORTEST:
                    yield line.strip(), f"the solution of {exercise.file}"
    sources = [
        path.read_text(encoding="utf-8")
        for folder in (assignment.public_dir, assignment.root / "assignments" / "checking")
        for path in folder.rglob("*.py")
    ]
    sources += build_stubs(assignment).values()
    public = "\n".join(sources)
    for path in sorted(assignment.hidden_tests.rglob("*.py")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if len(line.strip()) > SHORTEST and line.strip() not in public:
                yield line.strip(), f"the hidden {path.name}"


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        if all(isinstance(part, str) for part in value):
            yield "".join(value)  # a notebook keeps long texts as lists of lines
        else:
            for part in value:
                yield from _strings(part)
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
