"""What intake hands to grading."""

import dataclasses
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Attempt:
    """Something that a student handed in and that does not count: a newer attempt does."""

    origin: str
    submitted: str  # ISO 8601, or empty


@dataclass(frozen=True)
class Submission:
    """What one student, or one group, handed in, reduced to the files that are graded."""

    student: str  # safe as a file name, and nobody else's
    original: str  # the name as it was found
    origin: str  # where, from the folder or archive that was given
    files: dict[str, bytes]  # exercise file to source in UTF-8 with \n
    notes: list[str] = field(default_factory=list)  # for the student and for staff
    remarks: list[str] = field(default_factory=list)  # for staff only
    late: str = ""  # empty when on time
    ungradable: str = ""  # why nothing can be graded, or empty
    members: list[str] = field(default_factory=list)  # roster ids of all whose work it is
    matched: str = ""  # how it was found on the roster: "id", "Canvas id", "name", ...
    certainty: str = ""  # "sure", "likely", "unknown"; empty without a roster
    submitted: str = ""  # when, ISO 8601; with an offset where the LMS gives one
    is_marked_late: bool = False  # by the LMS
    attempts: list[Attempt] = field(default_factory=list)  # that do not count
    canvas_id: str = ""
    moodle_id: str = ""
    feedback_name: str = ""  # how the LMS wants a file for this student to begin


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
    layout: str = ""  # how the class lay: "canvas", "moodle", ...
    absent: list[str] = field(default_factory=list)  # roster ids without a submission
    roster: list[dict[str, str]] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)  # archives in what was given that are the class

    def describe(self) -> dict[str, object]:
        """Return the content of intake.json: the fields of these classes, files as their sizes.

        The fields are read by exports and reports. New ones may come; none changes its meaning.
        """
        described = []
        for submission in self.submissions:
            record = dataclasses.asdict(submission)
            record["files"] = {name: len(data) for name, data in submission.files.items()}
            described.append(record)
        left_out = [dataclasses.asdict(item) for item in self.left_out]
        return {
            "schema_version": 1,
            "layout": self.layout,
            "opened": self.opened,
            "submissions": described,
            "absent": self.absent,
            "left_out": left_out,
            "roster": self.roster,
        }
