"""Picks, from everything that a student handed in, the files that are graded."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from autograder.assignment import Assignment, Exercise
from autograder.intake import notebook
from autograder.intake.archive import read_archive
from autograder.intake.file_names import get_python_stem, is_aside, is_test, rank_name
from autograder.intake.parts import take_part
from autograder.intake.source import decode_source, is_blank
from autograder.intake.starter import is_starter, read_starter
from autograder.intake.statements import Unreadable, get_name, parse
from autograder.intake.tarball import ENDINGS as TARBALLS
from autograder.intake.tarball import read_tarball
from autograder.intake.tree import (
    MAX_ARCHIVE,
    MAX_ENTRIES,
    MAX_NESTING,
    MAX_NOTEBOOK,
    MAX_SOURCE,
    MAX_TOTAL,
    File,
    Folder,
    Refused,
    walk,
    walk_refused,
)
from autograder.plaintext import clean_line

MAX_TARBALLS = 8  # of one student
_PACKED = (".rar", ".7z", ".gz", ".bz2", ".xz")


@dataclass
class Picked:
    """The files taken from one student, what to say about them, and why there are none."""

    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)  # for staff only
    ungradable: str = ""


@dataclass(frozen=True)
class _Found:
    """A file somewhere in a submission."""

    folders: tuple[str, ...]
    file: File

    @property
    def path(self) -> str:
        return clean_line("/".join((*self.folders, self.file.name)))


def pick_files(folder: Folder, assignment: Assignment) -> Picked:
    """Pick the exercise files of an assignment from one student's folder. Never raises."""
    return _Picker(folder, assignment).pick()


class _Picker:
    def __init__(self, folder: Folder, assignment: Assignment) -> None:
        self.assignment = assignment
        self.picked = Picked()
        self.starter = read_starter(assignment)
        self.left = MAX_TOTAL
        self.tarballs_left = MAX_TARBALLS
        self.used: set[str] = set()
        self.blank: list[str] = []
        self.texts: dict[int, str | None] = {}  # by the id of what was found
        self.refused: list[str] = []
        found = self._open_archives(folder, (), MAX_NESTING)
        found.sort(key=lambda item: (len(item.folders), item.folders, item.file.name))
        if len(found) > MAX_ENTRIES:
            self.picked.notes.append(f"holds {len(found)} files; {MAX_ENTRIES} were looked at")
        self.found = found[:MAX_ENTRIES]

    def pick(self) -> Picked:
        for exercise in self.assignment.exercises:
            self._pick_by_name(exercise)
        self._stand_in("Python file", self._find_python, lambda text: (text, []))
        self._stand_in("notebook", self._find_notebooks, self._read_notebook)
        files = self.picked.files
        self.picked.files = {name: files[name] for name in self.assignment.files if name in files}
        if files:
            self._note_left_out()
        else:
            self.picked.ungradable = self._explain_nothing()
        self.picked.notes = list(dict.fromkeys(self.picked.notes))
        return self.picked

    def _open_archives(self, folder: Folder, above: tuple[str, ...], nesting: int) -> list[_Found]:
        """List all files, those inside archives included."""
        prefix = "".join(f"{name}/" for name in above)
        for name, reason in walk_refused(folder, prefix):
            self.refused.append(f"{clean_line(name)} {reason}")
        found: list[_Found] = []
        for folders, file in walk(folder, above):
            item = _Found(folders, file)
            ending = file.name.casefold()
            if not ending.endswith(TARBALLS) and ending.endswith(_PACKED):
                self.refused.append(f"{item.path} is an archive that is not read; hand in a .zip")
                continue
            if not ending.endswith((".zip", *TARBALLS)):
                found.append(item)
                continue
            try:
                if not nesting:
                    raise Refused("is an archive in too many archives")
                inner = self._open(file, is_zip=ending.endswith(".zip"))
            except Refused as refusal:
                self.refused.append(f"{item.path} {refusal}")
                continue
            found += self._open_archives(inner, (*folders, file.name), nesting - 1)
        return found

    def _open(self, file: File, *, is_zip: bool) -> Folder:
        data = self._read(file, MAX_ARCHIVE)
        if is_zip:
            return read_archive(data, file.name)
        if not self.tarballs_left:  # these are unpacked whole before anything is known of them
            raise Refused("is one of more tar archives than are opened")
        self.tarballs_left -= 1
        return read_tarball(data, file.name)

    def _read(self, file: File, limit: int) -> bytes:
        if file.size > limit:
            raise Refused(f"is larger than {limit >> 20} MiB")
        if not self.left:
            raise Refused("was not read, since the files before it were too large together")
        data = file.read(min(limit, self.left))
        self.left -= len(data)
        return data

    def _get_text(self, item: _Found, limit: int = MAX_SOURCE) -> str | None:
        """Return a file's text once decoded, or None when it cannot be had or is blank."""
        if id(item) not in self.texts:
            self.texts[id(item)] = None
            try:
                text, notes = decode_source(self._read(item.file, limit))
                self.picked.notes += [f"{item.path} {note}" for note in notes]
                if is_blank(text):
                    self.blank.append(item.path)
                else:
                    self.texts[id(item)] = text
            except Refused as refusal:
                self.refused.append(f"{item.path} {refusal}")
        return self.texts[id(item)]

    def _read_notebook(self, text: str) -> tuple[str, list[str]]:
        wanted = {name for exercise in self.assignment.exercises for name in exercise.names}
        return notebook.extract_definitions(text, wanted)

    def _pick_by_name(self, exercise: Exercise) -> None:
        ranked = []
        for item in self.found:
            rank = rank_name(item.file.name, exercise.file)
            if rank is not None:
                ranked.append((is_aside(item.folders), rank, len(item.folders), item.path, item))
        for *_, item in sorted(ranked, key=lambda entry: entry[:-1]):
            text = self._get_text(item)
            if text is None:
                continue
            if notebook.looks_like_notebook(text):
                try:
                    text, notes = self._read_notebook(text)
                except Refused as refusal:
                    self.refused.append(f"{item.path} {refusal}")
                    continue
                self.picked.notes += [f"{item.path}: {note}" for note in notes]
            self.picked.files[exercise.file] = text.encode("utf-8", "replace")
            self.used.add(item.path)
            if item.path != exercise.file and item.file.name != exercise.file:
                self.picked.notes.append(f"{item.path} was taken as {exercise.file}")
            self._note_doubles(exercise, item, [entry[-1] for entry in ranked])
            return

    def _note_doubles(self, exercise: Exercise, taken: _Found, ranked: list[_Found]) -> None:
        """Say so where another file had the same right to be taken, and is not the same."""
        for item in ranked:
            is_alike = len(item.folders) == len(taken.folders) and (
                item.file.name == taken.file.name
                and is_aside(item.folders) == is_aside(taken.folders)
            )
            if item is taken or not is_alike:
                continue
            text = self._get_text(item)
            if text is None or text == self._get_text(taken):
                continue
            said = f"{exercise.file} is there twice: {taken.path} was taken, {item.path} was not"
            self.used.add(item.path)
            self.picked.notes.append(said)
            self.picked.remarks.append(said)

    def _find_python(self) -> Iterator[tuple[_Found, str]]:
        for item in self.found:
            if get_python_stem(item.file.name) and not is_test(item.file.name):
                text = self._get_text(item)
                if text is not None and not notebook.looks_like_notebook(text):
                    yield item, text

    def _find_notebooks(self) -> Iterator[tuple[_Found, str]]:
        for item in self.found:
            name = item.file.name.casefold().removesuffix(".txt").removesuffix(".json")
            if name.endswith(".ipynb"):
                text = self._get_text(item, MAX_NOTEBOOK)
                if text is not None:
                    yield item, text

    def _stand_in(
        self,
        kind: str,
        find: Callable[[], Iterator[tuple[_Found, str]]],
        convert: Callable[[str], tuple[str, list[str]]],
    ) -> None:
        """Let files of any name stand for missing ones whose names they define.

        A notebook also stands for files that are as they were handed out.
        """
        prune = kind == "notebook"
        missing = [e for e in self.assignment.exercises if e.file not in self.picked.files]
        untouched = [e for e in self.assignment.exercises if self._is_untouched(e)] * prune
        if not missing + untouched:
            return
        choices: list[tuple[_Found, str, set[str], list[str]]] = []
        for item, text in find():
            try:
                source, notes = convert(text)
                choices.append((item, source, find_definitions(source), notes))
            except Refused as refusal:
                self.refused.append(f"{item.path} {refusal}")
        chosen: dict[str, tuple[_Found, str, set[str], list[str]]] = {}
        for exercise in missing + untouched:
            fit = [choice for choice in choices if choice[2].intersection(exercise.names)]
            if fit:
                chosen[exercise.file] = min(
                    fit,
                    key=lambda choice: (
                        is_aside(choice[0].folders),
                        -len(choice[2].intersection(exercise.names)),
                        get_python_stem(exercise.file) not in choice[0].file.name.casefold(),
                        len(choice[0].folders),
                        choice[0].path,
                    ),
                )
        there = {*self.picked.files, *chosen}
        for exercise in missing + untouched:
            if exercise.file not in chosen:
                continue
            item, source, _, notes = chosen[exercise.file]
            used = [self.assignment.exercise(name) for name in exercise.uses]
            used = [other for other in used if other.file in there]
            part = take_part(source, exercise, used, prune=prune)
            if exercise in untouched and f'"{self.assignment.id} / ' in part:
                continue  # a stub as well
            self.picked.files[exercise.file] = part.encode("utf-8", "replace")
            self.used.add(item.path)
            state = "as it was handed out" if exercise in untouched else "not there"
            self.picked.notes.append(
                f"{exercise.file} was {state}; the {kind} {item.path} was taken for it"
            )
            self.picked.notes += [f"{item.path}: {note}" for note in notes]

    def _is_untouched(self, exercise: Exercise) -> bool:
        data = self.picked.files.get(exercise.file)
        return data is not None and is_starter(exercise.file, data, self.starter)

    def _note_left_out(self) -> None:
        notes = self.picked.notes
        notes += self.refused[:10]
        notes += [f"{path} is empty" for path in self.blank[:10]]
        for name in self.assignment.files:
            if name not in self.picked.files:
                notes.append(f"{name} is missing")
        known = self.used.union(self.blank)
        rest = [
            item.path
            for item in self.found
            if item.path not in known and item.file.name != "timestamp.txt"
        ]
        if rest:
            listed = ", ".join(rest[:10]) + (f" and {len(rest) - 10} more" if rest[10:] else "")
            notes.append(f"not among the files of this assignment, and left out: {listed}")

    def _explain_nothing(self) -> str:
        wanted = ", ".join(self.assignment.files)
        if self.blank:
            return f"Every file in it is empty ({', '.join(self.blank[:5])})."
        if self.refused:
            return f"Nothing in it can be graded: {'; '.join(self.refused[:5])}."
        if self.found:
            listed = ", ".join(item.path for item in self.found[:5])
            more = " and more" if len(self.found) > 5 else ""
            return f"Nothing in it can be graded: looked for {wanted}; found {listed}{more}."
        return f"It is empty: looked for {wanted}."


def find_definitions(source: str) -> set[str]:
    """Return the names of the functions and classes that a module defines at its top.

    Raises:
        Refused: not Python.
    """
    try:
        return {get_name(node) for node in parse(source).body} - {""}
    except Unreadable as error:
        raise Refused(str(error)) from error
