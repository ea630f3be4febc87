"""Files that say nothing about who wrote them: as handed out, or the same as somebody else's."""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence

from autograder.assignment import Assignment
from autograder.intake.source import decode_source
from autograder.intake.submission import Submission

MAX_NAMED = 5


def read_starter(assignment: Assignment) -> dict[str, str]:
    """Return the exercise files as they are handed out, without the blanks around them."""
    starter: dict[str, str] = {}
    for name in assignment.files:
        path = assignment.template_dir / name
        if path.is_file():
            starter[name] = decode_source(path.read_bytes())[0].strip()
    return starter


def is_starter(name: str, data: bytes, starter: Mapping[str, str]) -> bool:
    """Tell whether a file is what was handed out."""
    return data.decode("utf-8", "replace").strip() == starter.get(name)


def remark_on_copies(submissions: Sequence[Submission], starter: Mapping[str, str]) -> None:
    """Say which submissions hold the same files; what was handed out does not count."""
    same: dict[bytes, list[Submission]] = defaultdict(list)
    for submission in submissions:
        state = hashlib.sha256()
        own = {n: d for n, d in submission.files.items() if not is_starter(n, d, starter)}
        for name, data in sorted(own.items()):
            state.update(name.encode() + len(data).to_bytes(8, "little") + data)
        if own:
            same[state.digest()].append(submission)
    for alike in same.values():
        for submission in alike:
            others = [other.student for other in alike if other is not submission]
            if others:
                more = f" and {len(others) - MAX_NAMED} more" if others[MAX_NAMED:] else ""
                listed = ", ".join(others[:MAX_NAMED]) + more
                submission.remarks.append(f"the same files, byte for byte, as {listed}")
