"""How a class lies in a folder or an archive: recognised by what is in it, never by its name.

A module for each place that submissions come from. Canvas, Moodle and what is laid down by hand
are told entry by entry, so that downloads of different kinds can lie beside each other; the
others say it for the whole folder.
"""

from pathlib import Path

from autograder.assignment import Assignment
from autograder.intake.archive import read_archive
from autograder.intake.layouts import canvas, clones, gradescope, moodle, nbgrader, plain
from autograder.intake.layouts.candidate import Candidate, Found, Identity
from autograder.intake.submission import LeftOut
from autograder.intake.tree import MAX_ARCHIVE, File, Folder, Refused
from autograder.plaintext import clean_line
from autograder.roster import Roster

__all__ = ["Candidate", "Found", "Identity", "is_class", "read_class"]

MAX_CLASS_ENTRIES = 200_000
_SURE = 3  # as many files named as Canvas does are no accident


def is_class(folder: Folder, assignment: Assignment) -> bool:
    """Tell whether a folder is a class that an LMS or another tool has laid down."""
    return (
        gradescope.find_metadata(folder) is not None
        or nbgrader.fits(folder)
        or clones.fits(folder)
        or bool(_pick_moodle(folder))
        or bool(_pick_canvas(folder))
        or _find_submitted(folder) is not None
    )


def read_class(folder: Folder, assignment: Assignment, roster: Roster) -> Found:
    """Read a class.

    Raises:
        Refused: a tool's own list of the submissions is damaged; the message says how.
    """
    folder = _find_submitted(folder) or folder
    metadata = gradescope.find_metadata(folder)
    if metadata is not None:
        return gradescope.read_export(folder, metadata)
    if nbgrader.fits(folder):
        return nbgrader.read_tree(folder, assignment)
    if clones.fits(folder):
        return clones.read_clones(folder, roster)
    exports = _open_exports(folder, assignment)
    if exports:
        merged = _merge([read_class(export, assignment, roster) for export in exports.values()])
        merged.left_out += [o for o in _read_others(folder, assignment) if isinstance(o, LeftOut)]
        merged.left_out += [LeftOut(clean_line(name), why) for name, why in folder.refused]
        merged.opened = [clean_line(name) for name in exports]
        return merged
    return _read_entries(folder, assignment)


def _read_entries(folder: Folder, assignment: Assignment) -> Found:
    """Read a folder entry by entry: Moodle's, Canvas' and those that students' names stand on."""
    found = Found("")
    kinds: list[str] = []
    from_canvas = _pick_canvas(folder)
    from_moodle = _pick_moodle(folder)
    if from_canvas:
        kinds.append("canvas")
        found.candidates += canvas.read_entries(from_canvas, assignment)
    if from_moodle:
        kinds.append("moodle")
        found.candidates += moodle.read_entries(from_moodle)
    taken = {entry.name for entry in from_moodle} | {entry.file.name for entry in from_canvas}
    rest = [plain.read_folder(inner) for inner in folder.folders if inner.name not in taken]
    others = [plain.read_file(f, assignment) for f in folder.files if f.name not in taken]
    for item in (*rest, *others, *plain.read_refused(folder)):
        if isinstance(item, Candidate):
            found.candidates.append(item)
            kinds += ["plain"] * ("plain" not in kinds)
        else:
            found.left_out.append(item)
    found.layout = " + ".join(kinds) or "plain"
    return found


def _pick_moodle(folder: Folder) -> list[File | Folder]:
    entries: list[File | Folder] = [*folder.folders, *folder.files]
    return [entry for entry in entries if moodle.is_entry(entry.name)]


def _pick_canvas(folder: Folder) -> list[canvas.Entry]:
    """Return the files named as Canvas names them, unless a few among others are so by accident."""
    entries = [entry for entry in map(canvas.read_entry, folder.files) if entry is not None]
    others = len(folder.files) + len(folder.folders) - len(entries)
    is_likely = len(entries) >= _SURE or len(entries) >= others
    return entries if is_likely and canvas.is_consistent(entries) else []


def _find_submitted(folder: Folder) -> Folder | None:
    """Return nbgrader's folder of submissions in the folder of a course."""
    inner = [inner for inner in folder.folders if inner.name == "submitted"]
    return inner[0] if inner and nbgrader.fits(inner[0]) else None


def _open_exports(folder: Folder, assignment: Assignment) -> dict[str, Folder]:
    """Return what is in the archives of a folder, by their names, if all of them are a class.

    It may hold nothing else of students: a gradebook, perhaps. One student's archive among others
    is never taken for a class, whatever its content is called. So only an archive that is alone in
    a folder on disk may also be a class laid down by hand.
    """
    archives = [file for file in folder.files if _is_archive(file)]
    others = _read_others(folder, assignment)
    if folder.folders or any(isinstance(other, Candidate) for other in others):
        return {}
    is_lone = len(archives) == 1 and folder.disk is not None and not is_class(folder, assignment)
    exports: dict[str, Folder] = {}
    for file in archives:
        try:
            export = unwrap(_open(file))
        except Refused:
            return {}
        if not is_class(export, assignment) and not (is_lone and plain.fits(export, assignment)):
            return {}
        exports[file.name] = export
    return exports


def _read_others(folder: Folder, assignment: Assignment) -> list[Candidate | LeftOut]:
    """Read the files that lie beside archives: what may be a student's, and what is left out."""
    return [plain.read_file(file, assignment) for file in folder.files if not _is_archive(file)]


def _is_archive(file: File) -> bool:
    return file.name.casefold().endswith(".zip")


def _open(file: File) -> Folder:
    source: bytes | Path = file.disk or file.read(MAX_ARCHIVE)
    return read_archive(source, file.name, max_entries=MAX_CLASS_ENTRIES)


def unwrap(folder: Folder) -> Folder:
    """Step through folders that hold nothing but one folder."""
    while len(folder.folders) == 1 and not folder.files and not folder.refused:
        folder = folder.folders[0]
    return folder


def _merge(parts: list[Found]) -> Found:
    """Put the classes of several archives together."""
    merged = Found(" + ".join(dict.fromkeys(part.layout for part in parts)))
    for part in parts:
        merged.candidates += part.candidates
        merged.left_out += part.left_out
    return merged
