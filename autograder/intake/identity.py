"""Student ids: from the name of a folder or file, safe as a file name, nobody else's."""

import hashlib
import unicodedata
from collections.abc import Collection, Sequence

from autograder.plaintext import clean_line

MAX_BYTES = 100
_ENDINGS = (".tar.gz", ".tar.bz2", ".tar.xz", ".py.txt", ".ipynb.txt", ".ipynb.json")
_RESERVED = {
    "con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10)),
}  # fmt: skip
_OURS = {"grades.csv", "report.html", "intake.json", "timings.json", "digests.json", "maximum"}


def name_student(file_name: str) -> str:
    """Return a file's name without its ending: `ada.zip`, `ada.py.txt` are both ada's."""
    for ending in _ENDINGS:
        if file_name.casefold().endswith(ending) and len(file_name) > len(ending):
            return file_name[: -len(ending)]
    stem, dot, ending = file_name.rpartition(".")
    return stem if dot and stem and 0 < len(ending) <= 6 else file_name


def make_safe(name: str) -> str:
    """Return an id that can name a folder on any system and starts no option or formula.

    Letters and digits of all scripts stay.

    >>> make_safe("../Zoë O'Neil"), make_safe("=cmd()"), make_safe("nul.txt")
    ("Zoë O'Neil", 'cmd', 'nul.txt_')
    """
    text = unicodedata.normalize("NFC", clean_line(name, 1000))
    safe = "".join(
        char if unicodedata.category(char)[0] in "LMN" or char in " _-.@+'’" else "_"
        for char in text
    )
    safe = safe.lstrip(" ._-@+'’").rstrip(" ._'’") or "student"
    if safe.split(".")[0].strip().casefold() in _RESERVED or safe.casefold() in _OURS:
        safe += "_"
    if len(safe.encode()) > MAX_BYTES:
        mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        kept = safe.encode()[: MAX_BYTES - 9].decode("utf-8", "ignore").rstrip(" ._-")
        safe = f"{kept}-{mark}"
    return safe


def assign_ids(names: Sequence[str], known: Collection[int] = ()) -> list[str]:
    """Return one id for each name, all different on any file system.

    The names at the places in `known` come first. A name that already is an id keeps it; of
    names that collide, also when only case or the form of accents differs, the later ones in
    sorted order get a number.
    """

    def rank(place: int) -> tuple[bool, bool, str, int]:
        name = names[place]
        return place not in known, make_safe(name) != name, name, place

    order = sorted(range(len(names)), key=rank)
    taken: set[str] = set()
    ids = [""] * len(names)
    for index in order:
        safe = make_safe(names[index])
        candidate, number = safe, 1
        while fold(candidate) in taken:
            number += 1
            candidate = f"{safe}-{number}"
        taken.add(fold(candidate))
        ids[index] = candidate
    return ids


def fold(name: str) -> str:
    """Return what two names share when a file system or a reader may take one for the other."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
