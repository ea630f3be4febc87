"""One student as a layout sees them."""

from dataclasses import dataclass, field
from datetime import datetime

from autograder.intake.submission import Attempt, LeftOut
from autograder.intake.tree import Folder


@dataclass(frozen=True)
class Identity:
    """What the place where a submission lay says about whose it is. Empty where it says nothing."""

    name: str = ""  # a person's, or a group's
    slug: str = ""  # a name as Canvas writes it into file names
    login: str = ""  # a folder's name; somebody's id, login or email
    email: str = ""
    canvas_id: str = ""
    moodle_id: str = ""
    sis_id: str = ""


@dataclass
class Candidate:
    """One submission as a layout sees it: a name, and a folder of what was handed in."""

    name: str  # from where the files lie, never from inside a file
    origin: str
    content: Folder
    identity: Identity = field(default_factory=Identity)
    members: list[Identity] = field(default_factory=list)  # of a group, where the LMS lists them
    submitted: datetime | None = None
    is_marked_late: bool = False
    order: tuple[int, ...] = ()  # of two attempts of one student, the greater is the newer
    attempts: list[Attempt] = field(default_factory=list)  # that do not count
    feedback_name: str = ""  # how the LMS wants a file for this student to begin
    remarks: list[str] = field(default_factory=list)  # for staff


@dataclass
class Found:
    """A class as a layout has read it."""

    layout: str
    candidates: list[Candidate] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)  # archives in what was given that are the class
