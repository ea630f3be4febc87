"""Submissions that look alike: a list for staff to read, never a mark.

Programs are compared by their syntax trees. Comments, docstrings, layout, annotations and
the author's own names do not count, nor does what stood in the starter code. Short exercises
have few good answers, so what many of a class have in common does not count either: only
passages that few share lead to a pair.

Passages are winnowed fingerprints: hashes of every run of `RUN` tokens, of which the least in
each window of `WINDOW` is kept. A common passage of `RUN + WINDOW - 1` tokens is never missed.

Source: Schleimer, Wilkerson, Aiken (2003), "Winnowing: Local Algorithms for Document
Fingerprinting", section 3.
"""

import ast
import builtins
import math
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from autograder.assignment import Assignment

RUN = 14  # tokens in a passage
WINDOW = 6
LEAST_SHARE = 0.4  # of the passages of the shorter one, for a pair to be listed
LEAST_RARITY = 3.0  # passages that nobody else has; one that n others have counts 1 / (n + 1)
MAX_PAIRS = 100
MAX_BYTES = 200_000  # of a file; a longer one is not compared
_BASE, _PRIME = 1_000_003, (1 << 61) - 1
_SKIPPED = (ast.expr_context, ast.Import, ast.ImportFrom, ast.arguments)

Sources = Mapping[str, Mapping[str, bytes]]  # student to file name to source


@dataclass(frozen=True)
class Group:
    """Students whose programs are the same, their own names included."""

    file: str
    students: tuple[str, ...]


@dataclass(frozen=True)
class Pair:
    """Two students who share passages that few others have."""

    file: str
    students: tuple[str, str]
    passages: int  # that both have
    share: float  # of the shorter one's passages, 0 to 1
    rarity: float


@dataclass(frozen=True)
class Lookalikes:
    """What to read, most remarkable first."""

    groups: list[Group] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)


@dataclass(frozen=True)
class _Program:
    passages: frozenset[int]
    exact: int  # equal where programs are equal, names included


def read_starter(assignment: Assignment) -> dict[str, str]:
    """Return the files that students start from, as handed out, as far as they are there."""
    paths = {name: assignment.template_dir / name for name in assignment.files}
    return {
        name: path.read_text(encoding="utf-8") for name, path in paths.items() if path.is_file()
    }


def find_lookalikes(sources: Sources, starter: Mapping[str, str]) -> Lookalikes:
    """Compare a class. `starter` has the source of each file as it was handed out."""
    groups: list[Group] = []
    pairs: list[Pair] = []
    for file in sorted({name for files in sources.values() for name in files}):
        given = _read(starter.get(file, ""))
        programs: dict[bytes, _Program | None] = {}
        authors: dict[str, _Program] = {}
        for student in sorted(sources):
            source = sources[student].get(file)
            if source is None:
                continue
            if source not in programs and len(source) <= MAX_BYTES:
                programs[source] = _fingerprint(source.decode("utf-8", "replace"), given)
            program = programs.get(source)
            if program is not None and program.passages:
                authors[student] = program
        same = _find_same(file, authors)
        together = {pair for group in same for pair in combinations(group.students, 2)}
        groups += same
        pairs += [pair for pair in _find_pairs(file, authors) if pair.students not in together]
    groups.sort(key=lambda group: (len(group.students), group.file, group.students))
    pairs.sort(key=lambda pair: (-pair.rarity * pair.share, pair.file, pair.students))
    return Lookalikes(groups, pairs[:MAX_PAIRS])


def _find_same(file: str, authors: Mapping[str, _Program]) -> list[Group]:
    same: dict[int, list[str]] = defaultdict(list)
    for student, program in authors.items():
        same[program.exact].append(student)
    return [Group(file, tuple(students)) for students in same.values() if len(students) > 1]


def _find_pairs(file: str, authors: Mapping[str, _Program]) -> Iterator[Pair]:
    """Yield the pairs that share enough that is rare; what many have makes no pair."""
    owners: dict[int, list[str]] = defaultdict(list)
    for student, program in authors.items():
        for passage in program.passages:
            owners[passage].append(student)
    many = max(10, math.ceil(len(authors) / 25))
    rarity: defaultdict[tuple[str, str], float] = defaultdict(float)
    for students in owners.values():
        if 2 <= len(students) <= many:
            for pair in combinations(students, 2):
                rarity[pair] += 1 / (len(students) - 1)
    for (one, other), value in rarity.items():
        if value < LEAST_RARITY:
            continue
        mine, theirs = authors[one].passages, authors[other].passages
        common = len(mine & theirs)
        share = common / min(len(mine), len(theirs))
        if share >= LEAST_SHARE:
            yield Pair(file, (one, other), common, share, value)


def _fingerprint(source: str, given: list[tuple[int, int]] | None) -> _Program | None:
    """Return what is compared of a program, or None where it cannot be read."""
    tokens = _read(source)
    if tokens is None:
        return None
    runs = _hash_runs([shape for shape, _ in tokens])
    starter = set(_hash_runs([shape for shape, _ in given or ()]))
    least = (min(runs[at : at + WINDOW]) for at in range(max(1, len(runs) - WINDOW + 1)) if runs)
    exact = 0
    for _, name in tokens:
        exact = (exact * _BASE + name) % _PRIME
    return _Program(frozenset(least) - starter, exact)


def _hash_runs(tokens: list[int]) -> list[int]:
    """Return a hash of every run of `RUN` tokens, each from the one before it."""
    top = pow(_BASE, RUN, _PRIME)
    value, hashes = 0, []
    for at, token in enumerate(tokens):
        value = (value * _BASE + token) % _PRIME
        if at >= RUN:
            value = (value - tokens[at - RUN] * top) % _PRIME
        if at >= RUN - 1:
            hashes.append(value)
    return hashes


def _read(source: str) -> list[tuple[int, int]] | None:
    """Return a program's tokens: each without names of the author's own, and with them."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    foreign = {name: name for name in dir(builtins)} | {"self": "self"}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module = getattr(node, "module", None)
            for alias in node.names:
                full = f"{module}.{alias.name}" if module else alias.name
                foreign[alias.asname or alias.name] = full
    tokens = []
    for shape, name in _list_tokens(tree, foreign):
        tokens.append((_hash(shape), _hash(name)))
    return tokens


def _hash(word: str) -> int:
    return zlib.crc32(word.encode("utf-8", "replace"))


def _list_tokens(tree: ast.AST, foreign: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the nodes of a tree from left to right, as words; not by recursion: it may be deep."""
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        kind = type(node).__name__
        match node:
            case ast.Name(id=name):
                yield foreign.get(name, "name"), name
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                yield "self.name", f"self.{name}"
                continue
            case ast.Attribute(attr=name):
                yield f".{name}", f".{name}"
            case ast.Constant(value=value):
                said = _say(value)
                yield (said if isinstance(value, (int, float)) else kind), said[:200]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield kind, f"{kind} {node.name}"
            case ast.keyword(arg=name):
                yield f"{name}=", f"{name}="
            case ast.AnnAssign():
                yield "Assign", "Assign"
            case _:
                yield kind, kind
        nodes += reversed(list(_list_children(node)))


def _say(value: object) -> str:
    """Return a constant as text. Python refuses to write out numbers with thousands of digits."""
    return hex(value) if type(value) is int and value.bit_length() > 64 else repr(value)


def _list_children(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "type_comment"):
            continue
        for child in value if isinstance(value, list) else (value,):
            if isinstance(child, ast.AST) and not _is_silent(child):
                yield child


def _is_silent(node: ast.AST) -> bool:
    """Tell whether a node does nothing: a docstring, an import, a bare annotation."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, _SKIPPED) or (isinstance(node, ast.AnnAssign) and node.value is None)
