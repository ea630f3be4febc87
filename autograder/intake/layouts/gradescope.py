"""Gradescope: `submission_metadata.yml` beside a folder for each submission.

Learned from what others parse, since the vendor does not document it. Each record names the
folder and has `:submitters:` (of a group several, `:name`, `:sid`, `:email` each),
`:created_at:` and `:history:`. Every scalar is read as the text that stands there: a student
number 0123 stays one, and nothing in the file can name a class to build.
"""

from collections.abc import Iterator
from typing import Any

from autograder.intake.layouts.candidate import Candidate, Found, Identity
from autograder.intake.submission import Attempt, LeftOut
from autograder.intake.tree import MIB, File, Folder, Refused
from autograder.lateness import read_time, show_time
from autograder.plaintext import clean_line

METADATA = "submission_metadata.yml"
MAX_METADATA = 64 * MIB


def find_metadata(folder: Folder) -> File | None:
    """Return the file that tells this layout."""
    return next((file for file in folder.files if file.name == METADATA), None)


def read_export(folder: Folder, metadata: File) -> Found:
    """Read an export.

    Raises:
        Refused: the metadata is not readable.
    """
    found = Found("gradescope")
    folders = {inner.name: inner for inner in folder.folders}
    files = {file.name: file for file in folder.files if file is not metadata}
    for key, record in _load(metadata).items():
        if not isinstance(key, str) or not isinstance(record, dict):
            continue
        content = folders.pop(key, None)
        if content is None:
            lone = files.pop(key, None)
            content = Folder(key, files=[lone] if lone else [])
        found.candidates.append(_make_candidate(key, record, content))
    for name, rest in folders.items():
        candidate = Candidate(name, clean_line(name), rest)
        candidate.remarks.append(f"{METADATA} does not say whose it is")
        found.candidates.append(candidate)
    found.left_out += [
        LeftOut(clean_line(name), f"not named in {METADATA}") for name in sorted(files)
    ]
    found.left_out += [LeftOut(clean_line(name), reason) for name, reason in folder.refused]
    return found


def _load(metadata: File) -> dict[Any, Any]:
    import yaml

    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        loaded = yaml.load(metadata.read(MAX_METADATA), Loader=loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise Refused(f"has a {METADATA} that cannot be read") from error
    if not isinstance(loaded, dict):
        raise Refused(f"has a {METADATA} that lists no submissions")
    return loaded


def _make_candidate(key: str, record: dict[Any, Any], content: Folder) -> Candidate:
    members = list(_list_members(_get(record, "submitters")))
    first = members[0] if members else Identity()
    names = [who.sis_id or who.email or who.name for who in members]
    candidate = Candidate(
        name="+".join(name for name in names if name) or key,
        origin=clean_line(key),
        content=content,
        identity=first if len(members) < 2 else Identity(),
        members=members if len(members) > 1 else [],
        submitted=read_time(_text(_get(record, "created_at"))),
    )
    if not any(names):
        candidate.remarks.append(f"{METADATA} names nobody for {clean_line(key)}")
    history = _get(record, "history")
    for earlier in history if isinstance(history, list) else []:
        if isinstance(earlier, dict):
            moment = read_time(_text(_get(earlier, "created_at")))
            if moment is None or moment != candidate.submitted:
                origin = f"submission {_text(_get(earlier, 'id'))}".strip()
                candidate.attempts.append(Attempt(clean_line(origin), show_time(moment)))
    return candidate


def _list_members(submitters: object) -> Iterator[Identity]:
    for who in submitters if isinstance(submitters, list) else []:
        if isinstance(who, dict):
            name, sid, email = (_text(_get(who, key)) for key in ("name", "sid", "email"))
            if name or sid or email:
                yield Identity(name=name, sis_id=sid, email=email)


def _get(record: dict[Any, Any], key: str) -> object:
    return record.get(f":{key}", record.get(key))


def _text(value: object) -> str:
    return clean_line(value, 300) if isinstance(value, str) else ""
