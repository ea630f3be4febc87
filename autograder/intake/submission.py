"""What intake hands to grading."""

import dataclasses
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Submission:
    """What one student handed in, reduced to the files that are graded."""

    student: str  # safe as a file name, and nobody else's
    original: str  # the name as it was found
    origin: str  # where, from the folder or archive that was given
    files: dict[str, bytes]  # exercise file to source in UTF-8 with \n
    notes: list[str] = field(default_factory=list)  # for the student and for staff
    late: str = ""  # empty when on time
    ungradable: str = ""  # why nothing can be graded, or empty


@dataclass(frozen=True)
class LeftOut:
    """Something beside the submissions that was not taken for one."""

    path: str
    reason: str


@dataclass(frozen=True)
class Intake:
    """A class: its submissions in the order of their ids, and what is not one."""

    submissions: list[Submission]
    left_out: list[LeftOut]

    def describe(self) -> dict[str, object]:
        """Return the content of intake.json."""
        described = []
        for submission in self.submissions:
            record = dataclasses.asdict(submission)
            record["files"] = {name: len(data) for name, data in submission.files.items()}
            described.append(record)
        left_out = [dataclasses.asdict(item) for item in self.left_out]
        return {"schema_version": 1, "submissions": described, "left_out": left_out}
