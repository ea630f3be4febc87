"""The probe's answers for every combination of faults, kept in the user's cache folder.

`Table.of(dictionary)` makes the table once; afterwards it is mapped from the cache, and a look-up
takes about a millisecond.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch

from autograder.faults import Dictionary, Fault, combinations, simulate

NOISE = 8  # a submission may round this much more than float32 does in our order of steps
USELESS = 1e-2  # an answer that float32 cannot reproduce this well (relative) identifies nothing
DIGITS = 24  # of a digest, in the name of a table's folder
AT_ONCE = 1 << 14  # combinations to compute at a time, so that memory stays small


@dataclass(frozen=True)
class Entries:
    """The answers of one shape. Transposed, so that a look-up reads only the first few rows."""

    members: np.ndarray  # (entries,) which combination each is
    answers: np.ndarray  # (numbers in an answer, entries) float32
    tolerances: np.ndarray  # (entries,) float32


class Table:
    """The probe's answers for every combination of faults of one dictionary."""

    def __init__(
        self, dictionary: Dictionary, rows: np.ndarray, entries: dict[tuple[int, ...], Entries]
    ) -> None:
        self.dictionary = dictionary
        self.rows = rows
        self.entries = entries

    @classmethod
    def of(cls, dictionary: Dictionary, cache: Path | None = None) -> Table:
        """From the cache folder if it is there, else made, and kept there if that can be done."""
        rows = combinations(dictionary)
        place = (cache or cache_folder()) / f"{dictionary.exercise}-{digest(dictionary)[:DIGITS]}"
        try:
            return cls(dictionary, rows, _read(place))
        except (OSError, ValueError):
            table = cls(dictionary, rows, tabulate(dictionary, rows))
            _write(place, table.entries)
            return table

    def look_up(self, answer: np.ndarray) -> list[tuple[Fault, ...]]:
        """Combinations of faults with this answer, those with the fewest faults; [] for none."""
        answer = _squeezed(answer)
        found = self.entries.get(answer.shape)
        if found is None or not np.isfinite(answer).all():
            return []
        left = np.arange(len(found.members))
        distance = np.zeros(len(left), dtype=np.float32)
        for numbers, number in zip(found.answers, answer.reshape(-1), strict=True):
            distance = np.maximum(distance, np.abs(numbers[left] - number))
            keep = distance <= found.tolerances[left]
            if not keep.all():
                left, distance = left[keep], distance[keep]
            if not len(left):
                return []
        members = found.members[left]
        sizes = (self.rows[members] > 0).sum(axis=1)
        fewest = np.sort(members[sizes == sizes.min()])
        return [self.dictionary.faults_of(self.rows[member]) for member in fewest]


def tabulate(dictionary: Dictionary, rows: np.ndarray) -> dict[tuple[int, ...], Entries]:
    """All answers, in float64 kept as float32, without those that identify nothing."""
    parts: dict[tuple[int, ...], list[Entries]] = {}
    for first in range(0, len(rows), AT_ONCE):
        for shape, entries in _tabulate_some(dictionary, rows[first : first + AT_ONCE]).items():
            moved = replace(entries, members=entries.members + first)
            parts.setdefault(shape, []).append(moved)
    return {
        shape: Entries(
            np.concatenate([entries.members for entries in some]),
            np.concatenate([entries.answers for entries in some], axis=1),
            np.concatenate([entries.tolerances for entries in some]),
        )
        for shape, some in parts.items()
    }


def _tabulate_some(dictionary: Dictionary, rows: np.ndarray) -> dict[tuple[int, ...], Entries]:
    """Each answer gets its own tolerance: the dictionary's, or more where float32 itself is off."""
    with torch.no_grad():
        exact = simulate(dictionary, rows, torch.float64)
        rough = simulate(dictionary, rows, torch.float32)
    entries = {}
    for shape, (members, answers) in exact.items():
        size = 1 + np.abs(answers).max(axis=1)
        with np.errstate(all="ignore"):
            noise = np.abs(answers - rough[shape].values).max(axis=1)
        tolerances = np.maximum(dictionary.tolerance * size, NOISE * noise)
        keep = np.isfinite(answers).all(axis=1) & (tolerances <= USELESS * size)
        entries[shape] = Entries(
            members[keep],
            np.ascontiguousarray(answers[keep].T.astype(np.float32)),
            tolerances[keep].astype(np.float32),
        )
    return entries


def cache_folder() -> Path:
    """Where tables are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "autograder"


def digest(dictionary: Dictionary) -> str:
    """Changes whenever the table could: with the declarations, the engine or torch."""
    total = hashlib.sha256(f"{torch.__version__} {np.__version__}".encode())
    for path in (*dictionary.sources, Path(__file__), Path(__file__).with_name("faults.py")):
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def _read(place: Path) -> dict[tuple[int, ...], Entries]:
    entries = {}
    folders = [folder for folder in place.iterdir() if folder.is_dir()]
    for folder in folders:
        # Mapped, not read: processes that grade side by side share one copy in memory.
        members, answers, tolerances = (
            np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
            for name in ("members", "answers", "tolerances")
        )
        shape = tuple(int(n) for n in folder.name.split("x"))
        entries[shape] = Entries(members, answers, tolerances)
    if not entries:
        raise ValueError(f"{place} is empty")
    return entries


def _write(place: Path, entries: dict[tuple[int, ...], Entries]) -> None:
    """Under another name first: other processes see a whole table or none."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix="table-", dir=place.parent))
    except OSError:
        return  # nowhere to keep it; it can be made again
    try:
        for shape, kept in entries.items():
            folder = draft / "x".join(map(str, shape))
            folder.mkdir()
            for name, values in vars(kept).items():
                np.save(folder / f"{name}.npy", values, allow_pickle=False)
        exercise = place.name.rpartition("-")[0]
        for outdated in place.parent.glob(f"{exercise}-{'?' * DIGITS}"):
            shutil.rmtree(outdated, ignore_errors=True)
        draft.rename(place)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)


def _squeezed(answer: np.ndarray) -> np.ndarray:
    return answer.reshape(tuple(n for n in answer.shape if n != 1))
