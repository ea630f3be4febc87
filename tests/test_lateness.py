"""Lateness: civil days on the course's own clock, and what they cost."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from demo_kit import DECLARATION, make_kit
from hypothesis import given
from hypothesis import strategies as st

from autograder import assignment
from autograder.digest import Digester
from autograder.errors import BrokenAssignment, KitError
from autograder.intake import Submission
from autograder.late_students import check_extensions, describe_group
from autograder.lateness import Deadline, assess, find_mistakes, read_extension, read_time
from autograder.roster import Roster, Student

BERLIN = ZoneInfo("Europe/Berlin")


def make_deadline(due: str = "2026-11-30 23:59", **changes: object) -> Deadline:
    fields: dict[str, object] = {"time_zone": "Europe/Berlin", "percent_per_day": Decimal(10)}
    return Deadline(due=datetime.fromisoformat(due), **(fields | changes))  # type: ignore[arg-type]


def count(deadline: Deadline, submitted: str) -> int | None:
    return assess(deadline, datetime.fromisoformat(submitted)).days


@pytest.mark.parametrize(
    ("submitted", "days"),
    [
        ("2026-11-30 23:58:00", 0),
        ("2026-11-30 23:59:59.999", 0),  # the minute is the student's
        ("2026-12-01 00:00:00", 1),
        ("2026-12-01 23:59:59", 1),
        ("2026-12-02 00:00:00", 2),
        ("2026-11-30 22:59:59+00:00", 0),  # the same minute in another zone
        ("2026-11-30 23:00:00+00:00", 1),
        ("2026-11-30 14:59:59-08:00", 0),
        ("1999-01-01 00:00:00", 0),
        ("2126-11-30 00:00:00", 3660),  # somebody's clock is wrong
    ],
)
def test_the_deadlines_minute(submitted, days):
    assert count(make_deadline(), submitted) == days


@pytest.mark.parametrize(
    ("due", "submitted", "days"),
    [
        # 29 March 2026 has 23 hours in Berlin, 25 October 25.
        ("2026-03-28 23:59", "2026-03-29 23:59:59+02:00", 1),
        ("2026-03-28 23:59", "2026-03-30 00:00:00+02:00", 2),
        ("2026-03-28 12:00", "2026-03-29 12:00:59+02:00", 1),  # 23 hours later
        ("2026-03-28 12:00", "2026-03-29 12:01:00+02:00", 2),
        ("2026-10-24 12:00", "2026-10-25 12:00:59+01:00", 1),  # 25 hours later
        ("2026-10-24 12:00", "2026-10-25 12:01:00+01:00", 2),
        ("2026-10-25 02:30", "2026-10-25 02:30:00+01:00", 0),  # comes twice: the later counts
        ("2026-10-25 02:30", "2026-10-25 02:31:00+01:00", 1),
        ("2026-03-28 02:30", "2026-03-29 03:30:30+02:00", 1),  # that day has no 2:30
    ],
)
def test_days_are_civil_days_when_the_clocks_change(due, submitted, days):
    assert count(make_deadline(due), submitted) == days


def test_grace_is_given_every_day():
    deadline = make_deadline(grace_minutes=15)
    assert count(deadline, "2026-12-01 00:14:59") == 0
    assert count(deadline, "2026-12-01 00:15:00") == 1
    assert count(deadline, "2026-12-02 00:14:59") == 1


def test_a_due_time_to_the_second_is_taken_at_its_word():
    deadline = make_deadline("2026-11-30 23:59:59")
    assert count(deadline, "2026-11-30 23:59:59.5") == 0
    assert count(deadline, "2026-12-01 00:00:00") == 1


@pytest.mark.parametrize(
    ("extension", "due"),
    [
        ("2026-12-02", "2026-12-02 23:59"),
        ("2026-12-02 12:00", "2026-12-02 12:00"),
        ("2026-12-02T12:00", "2026-12-02 12:00"),
        ("2026-12-02T11:00+00:00", "2026-12-02 12:00"),
        ("2", "2026-12-02 23:59"),
        ("+2 days", "2026-12-02 23:59"),
    ],
)
def test_an_extension_moves_one_students_deadline(extension, due):
    assert read_extension(extension, make_deadline()) == datetime.fromisoformat(due)
    moment = datetime.fromisoformat(due)
    assert assess(make_deadline(), moment, extension=extension).days == 0
    later = assess(make_deadline(), moment + timedelta(minutes=1), extension=extension)
    assert (later.days, later.percent) == (1, 10)


@pytest.mark.parametrize(
    "extension", ["soon", "2026-13-01", "-1", "2026-11-29", "99999", "9999-12-31"]
)
def test_an_extension_that_cannot_be_meant_is_named(extension):
    with pytest.raises(ValueError, match="the extension"):
        read_extension(extension, make_deadline())
    roster = Roster.of([Student("ada", extension=extension)])
    with pytest.raises(KitError, match="the roster's ada"):
        check_extensions(roster, make_deadline())
    check_extensions(roster, None)


def test_an_extension_ends_when_the_clocks_have_changed():
    deadline = make_deadline("2026-03-28 12:00")
    end = datetime(2026, 3, 29, 12, 0, 59, tzinfo=BERLIN)
    assert assess(deadline, end, extension="1").days == 0
    assert assess(deadline, end + timedelta(seconds=1), extension="1").days == 1


def test_percents_are_capped_and_exact():
    deadline = make_deadline(percent_per_day=Decimal("12.5"), max_percent=Decimal(30))
    late = assess(deadline, datetime(2026, 12, 2, 12, 0))
    assert (late.days, late.percent) == (2, 25)
    assert late.penalise(Decimal("82.5"), Decimal(100)) == 25
    assert assess(deadline, datetime(2026, 12, 9, 12, 0)).percent == 30
    of_score = make_deadline(percent_per_day=Decimal("12.5"), percent_of="score")
    late = assess(of_score, datetime(2026, 12, 1, 12, 0))
    assert late.penalise(Decimal("82.5"), Decimal(100)) == Decimal("10.3125")


def test_a_penalty_never_takes_more_than_there_is():
    late = assess(make_deadline(percent_per_day=Decimal(60)), datetime(2026, 12, 2, 12))
    assert late.percent == 100
    assert late.penalise(Decimal(3), Decimal(100)) == 3


def test_late_days_are_spent_before_points():
    deadline = make_deadline(late_days=2)
    late = assess(deadline, datetime(2026, 12, 3, 12))
    assert (late.days, late.free_days, late.percent) == (3, 2, 10)
    spent = assess(deadline, datetime(2026, 12, 3, 12), late_days=0)
    assert (spent.free_days, spent.percent) == (0, 30)
    rich = assess(deadline, datetime(2026, 12, 3, 12), late_days=9)
    assert (rich.free_days, rich.percent) == (3, 0)


def test_of_a_group_each_has_their_own_extension_and_late_days():
    ada, bob = Student("ada", extension="2"), Student("bob", late_days="1")
    moment = datetime(2026, 12, 2, 12)
    text = describe_group(make_deadline(), moment, [ada, bob], is_marked_late=True)
    assert text == "ada: on time; bob: 2 days"
    assert describe_group(make_deadline(), moment, [bob], is_marked_late=True) == "2 days"
    assert describe_group(make_deadline(), moment, [], is_marked_late=False) == "2 days"


def test_late_without_a_time_costs_nothing_and_is_said():
    late = assess(make_deadline(), None, is_marked_late=True)
    assert late.days is None
    assert late.percent == 0
    assert "no time" in late.note
    assert late.text == "late, by how much is not known"
    extended = assess(make_deadline(), None, is_marked_late=True, extension="3")
    assert "see for yourself" in extended.note
    odd = assess(make_deadline(), datetime(2026, 11, 30), is_marked_late=True)
    assert (odd.days, odd.note[:26]) == (0, "marked late, but its time ")
    assert assess(make_deadline(), None).text == ""
    assert assess(None, datetime(2030, 1, 1)).days == 0
    assert assess(None, None, is_marked_late=True).text == "late, by how much is not known"


@given(st.datetimes(datetime(2026, 1, 1), datetime(2027, 12, 31)), st.integers(-40, 400))
def test_days_grow_with_time_and_each_lasts_a_civil_day(due, hours):
    deadline = Deadline(due=due.replace(microsecond=0), time_zone="America/New_York")
    if list(find_mistakes(deadline)):
        return
    moment = deadline.due.replace(tzinfo=ZoneInfo("America/New_York"), fold=1).astimezone(UTC)
    moment += timedelta(hours=hours)
    days, next_days = (
        assess(deadline, moment + timedelta(hours=more)).days or 0 for more in (0, 1)
    )
    assert days <= next_days <= days + 1
    assert abs(days - max(0, hours) / 24) <= 1.1


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-11-30 22:58:10.644186000 Z", "2026-11-30T22:58:10+00:00"),
        ("2026-11-30T22:58:10+01:00", "2026-11-30T22:58:10+01:00"),
        ("2026-11-30 22:58:10 -0800", "2026-11-30T22:58:10-08:00"),
        ("2015-02-02 14:58:23.948203 America/Los_Angeles", "2015-02-02T14:58:23-08:00"),
        ("2015-02-02 14:58:23 UTC", "2015-02-02T14:58:23+00:00"),
        ("Wednesday, September 23, 2020, 9:00 PM", "2020-09-23T21:00:00"),
        ("Wednesday, 23 September 2020, 12:05 AM", "2020-09-23T00:05:00"),
        ("23 Sep 2020, 21:05", "2020-09-23T21:05:00"),
        ("Mittwoch, 23. September 2020, 21:00", None),
        ("2020-02-30 10:00", None),
        ("0001-01-01 00:00 +1400", None),
        ("9999-12-31 23:59 -1400", None),
        ("2020-02-20 10:00 Mars/Olympus", None),
        ("2020-02-20 10:00 ../../etc/passwd", None),
        ("-", None),
        ("", None),
    ],
)
def test_times_of_every_lms_are_read(text, moment):
    found = read_time(text)
    assert (None if found is None else found.isoformat()) == moment


@given(st.text(max_size=60) | st.from_regex(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d( .{0,10})?"))
def test_any_text_is_a_time_or_none(text):
    read_time(text)


DUE = '[deadline]\ndue = 2026-11-30T23:59:00\ntime_zone = "Europe/Berlin"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DUE.replace("Berlin", "Berlim"), "is not known"),
        (DUE.replace("Europe/Berlin", "../zone"), "is not known"),
        (DUE.replace("23:59:00", "23:59:00Z"), "carries an offset"),
        (DUE.replace("2026-11-30T23:59", "2026-03-29T02:30"), "clocks skip"),
        (DUE.replace("due", "duu"), "did you mean due"),
        (DUE.replace("2026-", "9999-"), "in the year 9999"),
        (DUE + "grace_minutes = -1\n", "grace_minutes"),
        (DUE + 'percent_per_day = "110"\n', "from 0 to 100"),
        (DUE + 'percent_of = "marks"\n', "percent_of"),
        (DUE.replace('time_zone = "Europe/Berlin"\n', ""), "lacks the key `time_zone`"),
        (DUE.replace("2026-11-30T23:59:00", '"tomorrow"'), "due"),
    ],
)
def test_a_wrong_deadline_is_named(tmp_path, text, words):
    make_kit(tmp_path)
    path = tmp_path / "assignments/demo/assignment.toml"
    path.write_text(DECLARATION.replace("[[exercises]]", text + "\n[[exercises]]", 1))
    with pytest.raises(BrokenAssignment, match=words):
        assignment.load("demo", tmp_path)


def test_a_deadline_that_moves_makes_no_result_out_of_date(tmp_path):
    make_kit(tmp_path)
    path = tmp_path / "assignments/demo/assignment.toml"
    work = Submission("ada", "ada", "ada", {"layer.py": b"x = 1\n"})
    digests = set()
    for text in ("", DUE, DUE.replace("11-30", "12-07") + "percent_per_day = 10\n"):
        path.write_text(DECLARATION.replace("[[exercises]]", text + "\n[[exercises]]", 1))
        digests.add(Digester(assignment.load("demo", tmp_path)).digest(work))
    assert len(digests) == 1
    path.write_text(DECLARATION.replace('title = "A layer"', 'title = "Another"'))
    assert Digester(assignment.load("demo", tmp_path)).digest(work) not in digests
