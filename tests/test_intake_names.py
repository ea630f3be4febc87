"""Names and archives of any kind: everybody is found, nobody mixed up, nothing falls over."""

import re
import tempfile
import unicodedata
from pathlib import Path

import pytest
from demo_kit import make_kit
from hypothesis import given, settings
from hypothesis import strategies as st
from lms_archives import pack

from autograder.assignment import Assignment
from autograder.errors import NothingToGrade
from autograder.intake import Intake, Submission, find_submissions
from autograder.intake.identity import fold
from autograder.intake.layouts.clones import find_prefix
from autograder.roster import Roster, Student

NAMES = st.text(min_size=1, max_size=25).filter(lambda name: name.strip() and "\0" not in name)
CLASSES = st.lists(NAMES, min_size=2, max_size=6)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    return make_kit(tmp_path_factory.mktemp("kit"))


def find(entries: dict[str, bytes], demo: Assignment, roster: Roster | None = None) -> Intake:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "class.zip"
        path.write_bytes(pack(entries))
        found = find_submissions(path, demo, roster)
        assert [entry.name for entry in Path(folder).iterdir()] == ["class.zip"]
    return found


def make_work(number: int) -> bytes:
    return b"class Layer:\n    number = %d\n" % number


def check_all(submissions: list[Submission], count: int) -> None:
    works = [submission.files.get("layer.py") for submission in submissions]
    assert sorted(works, key=str) == sorted(map(make_work, range(count)), key=str)
    folded = [fold(submission.student) for submission in submissions]
    assert len(set(folded)) == count


def to_canvas(name: str) -> str:
    """What Canvas makes of a sortable name; see `lms_archives`."""
    kept = [c for c in name.lower() if c == "_" or unicodedata.category(c)[0] in "LMN"]
    slug = re.sub(r"_(\d+)_", r"\1", "".join(kept))
    return re.sub(r"_+\d*$", "", slug)  # what ends so can be read in two ways


def to_moodle(name: str) -> str:
    """What Moodle makes of a full name: underscores are blanks, some signs go."""
    cleaned = re.sub(r'[\x00-\x1f\x7f/\\:*?"<>|&]', "", name.replace("_", " "))
    return cleaned.strip(" .") or "x"


@given(CLASSES)
@settings(max_examples=40, deadline=None)
def test_any_names_in_canvas(demo, names):
    entries = {
        f"{to_canvas(name)}_{700 + n}_{9000 + n}_layer.py": make_work(n)
        for n, name in enumerate(names)
    }
    found = find(entries, demo)
    check_all(found.submissions, len(names))
    assert found.layout == "canvas"
    for submission in found.submissions:
        number = int(submission.canvas_id) - 700
        assert submission.files["layer.py"] == make_work(number)
        prefix = f"{to_canvas(names[number])}_{700 + number}_{9000 + number}"
        assert submission.feedback_name == unicodedata.normalize("NFC", prefix)


@given(CLASSES, st.booleans())
@settings(max_examples=40, deadline=None)
def test_any_names_in_moodle(demo, names, flat):
    between = "_" if flat else "/"
    entries = {
        f"{to_moodle(name)}_{700 + n}_assignsubmission_file{between}layer.py": make_work(n)
        for n, name in enumerate(names)
    }
    found = find(entries, demo)
    check_all(found.submissions, len(names))
    for submission in found.submissions:
        assert submission.files["layer.py"] == make_work(int(submission.moodle_id) - 700)


@given(CLASSES)
@settings(max_examples=40, deadline=None)
def test_any_names_on_a_roster_match_themselves_or_nobody(demo, names):
    students = [Student(f"id{n}", name=name) for n, name in enumerate(names)]
    entries = {
        f"{to_moodle(name)}_{700 + n}_assignsubmission_file/layer.py": make_work(n)
        for n, name in enumerate(names)
    }
    found = find(entries, demo, Roster.of(students))
    check_all(found.submissions, len(names))
    for submission in found.submissions:
        number = int(submission.moodle_id) - 700
        assert submission.members in ([], [f"id{number}"]) or to_moodle(names[number]) == "x"
    covered = {member for submission in found.submissions for member in submission.members}
    assert covered | set(found.absent) == {student.id for student in students}
    assert not covered & set(found.absent)


PARTS = st.sampled_from(
    ["layer.py", "block.py", "ada", "Ada L_7_assignsubmission_file", "al_7_8_layer.py", "x.zip",
     "submission_metadata.yml", "submitted", "timestamp.txt", "demo", "..", ".git", "__MACOSX",
     "roster.csv", "old", "a" * 300, "é", "e\u0301", "\u202ex", " ", "CON", "anon_Z_5_layer.py"]
)  # fmt: skip
PATHS = (
    st.lists(PARTS | st.text(max_size=8), min_size=1, max_size=4)
    .map("/".join)
    .filter(lambda path: path.strip("\0") and "\0" not in path)
)
CONTENTS = st.sampled_from(
    [make_work(1), b"", b"PK\3\4", b"ada: {:submitters: [{:name: x}]}\n", b"- [", b"\xff\xfe",
     pack({"layer.py": make_work(2)}), pack({"al_7_8_layer.py": make_work(3)}), b"2026-01-01 UTC"]
)  # fmt: skip


@given(st.dictionaries(PATHS, CONTENTS, max_size=12))
@settings(max_examples=100, deadline=None)
def test_any_archive_is_a_class_or_refused(demo, entries):
    entries = {name.encode("utf-8", "replace").decode(): data for name, data in entries.items()}
    try:
        found = find(entries, demo, Roster.of([Student("ada", name="Ada L"), Student("al")]))
    except NothingToGrade:
        return
    for submission in found.submissions:
        assert submission.files or submission.ungradable
        assert set(submission.files) <= {"layer.py", "block.py"}
        assert len(submission.members) == len(set(submission.members))
    covered = [member for submission in found.submissions for member in submission.members]
    assert len(covered) == len(set(covered)), "one student, one submission"
    assert set(covered) | set(found.absent) == {"ada", "al"}


@given(st.lists(st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True), min_size=2, unique=True))
def test_the_prefix_of_clones_is_found_with_a_roster(users):
    names = [f"hw-3-{user}" for user in users]
    roster = Roster.of([Student(user, login=user) for user in users])
    assert find_prefix(names, roster) == "hw-3-"


def test_the_prefix_of_clones_ends_at_a_dash():
    assert find_prefix(["hw-ada", "hw-adam"], Roster()) == "hw-"
    assert find_prefix(["hw-ada"], Roster()) == "hw-"
    assert find_prefix(["ada", "adam"], Roster()) == ""
    assert find_prefix([], Roster()) == ""
