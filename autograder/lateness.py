"""How late a submission is, and what that costs: derived when asked, stored in no result.

Days are civil days in the course's own time zone: a deadline at 23:59 comes back every day at
23:59 on the clock, also across a change to daylight-saving time, when a day has 23 or 25 hours.
The deadline's minute belongs to the student: 23:59 lasts until 23:59:59.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Literal
from zoneinfo import ZoneInfo

import msgspec

MAX_DAYS = 3660  # beyond ten years somebody's clock is wrong
YEARS = range(1970, 2200)
_DAYS = re.compile(r"\+?\s*(\d{1,3})\s*(?:d|days?)?", re.IGNORECASE)


class Deadline(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The table [deadline] of assignment.toml."""

    due: datetime  # on the clock of the time zone
    time_zone: str  # an IANA name
    grace_minutes: int = 0
    late_days: int = 0  # free days that each student has; a roster can say otherwise
    percent_per_day: Decimal = Decimal(0)
    percent_of: Literal["maximum", "score"] = "maximum"
    max_percent: Decimal = Decimal(100)


@dataclass(frozen=True)
class Lateness:
    """How late one student is. `days` is None where it cannot be known."""

    due: datetime | None = None
    days: int | None = 0  # civil days begun
    free_days: int = 0  # of these, paid for with late days
    percent: Decimal = Decimal(0)
    percent_of: str = "maximum"
    note: str = ""  # what an instructor must know

    @property
    def text(self) -> str:
        """In words for a table: empty when on time."""
        if self.days is None:
            return "late, by how much is not known"
        return f"{self.days} day{'s' * (self.days != 1)}" if self.days else ""

    def penalise(self, score: Decimal, maximum: Decimal) -> Decimal:
        """Return the points that lateness costs, exactly; never more than there are."""
        base = maximum if self.percent_of == "maximum" else score
        return min(score, base * self.percent / 100)


def find_mistakes(deadline: Deadline) -> Iterator[str]:
    """Yield what is wrong with a deadline that types cannot say."""
    if deadline.due.tzinfo is not None:
        yield "due carries an offset; write it as the clock shows it, the time_zone says the rest."
        return
    if deadline.due.year not in YEARS:
        yield f"due is in the year {deadline.due.year}, which cannot be meant."
        return
    zone = load_zone(deadline.time_zone)
    if zone is None:
        yield (
            f"time_zone {deadline.time_zone!r} is not known;"
            ' use an IANA name such as "Europe/Berlin" or "America/New_York".'
        )
        return
    there = _place(deadline.due, zone)
    if there.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != deadline.due:
        yield f"due {deadline.due} does not exist there: the clocks skip that hour."
    for name in ("grace_minutes", "late_days"):
        if not 0 <= getattr(deadline, name) < 100_000:
            yield f"{name} is {getattr(deadline, name)}; it must be 0 or more."
    for name in ("percent_per_day", "max_percent"):
        percent = getattr(deadline, name)
        if not percent.is_finite() or not 0 <= percent <= 100:
            yield f"{name} is {percent}; it must be from 0 to 100."


def load_zone(name: str) -> ZoneInfo | None:
    """Return the time zone of an IANA name, or None when there is none."""
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, LookupError):
        return None


def assess(
    deadline: Deadline | None,
    submitted: datetime | None,
    *,
    is_marked_late: bool = False,
    extension: str = "",
    late_days: int | None = None,
) -> Lateness:
    """Say how late a student is.

    Args:
        deadline: None when the assignment declares none.
        submitted: when, as the LMS says; without an offset it is read on the course's clock.
        is_marked_late: whether the LMS calls it late, for where it gives no time.
        extension: this student's own due time, or days on top (see `read_extension`).
        late_days: this student's free days, where they differ from the deadline's.

    Raises:
        ValueError: the extension cannot be read; the message says why.
    """
    if deadline is None:
        return Lateness(days=None if is_marked_late else 0)
    zone = ZoneInfo(deadline.time_zone)
    due = read_extension(extension, deadline) if extension.strip() else deadline.due
    if submitted is None:
        if not is_marked_late:
            return Lateness(due=_place(due, zone))
        note = "marked late, but no time of submission is known: no penalty was derived"
        if extension.strip():
            note = "marked late, with an extension, and no time is known: see for yourself"
        return Lateness(due=_place(due, zone), days=None, note=note)
    if submitted.tzinfo is None:
        submitted = submitted.replace(tzinfo=zone)
    days = _count_days(due, submitted, zone, timedelta(minutes=deadline.grace_minutes))
    bank = deadline.late_days if late_days is None else late_days
    free = min(days, max(bank, 0))
    is_odd = is_marked_late and not days and not extension.strip()
    return Lateness(
        due=_place(due, zone),
        days=days,
        free_days=free,
        percent=min(deadline.max_percent, (days - free) * deadline.percent_per_day),
        percent_of=deadline.percent_of,
        note="marked late, but its time is within the deadline: on time" if is_odd else "",
    )


def read_extension(text: str, deadline: Deadline) -> datetime:
    """Return the due time that an extension means, on the course's clock.

    `2026-12-02` is that day at the usual hour, `2026-12-02 12:00` that time, `2` or `+2 days`
    so many days later.

    Raises:
        ValueError: none of these, or earlier than the deadline itself.
    """
    text = text.strip()
    days = _DAYS.fullmatch(text)
    if days:
        return deadline.due + timedelta(days=int(days[1]))
    try:
        due = datetime.fromisoformat(text)
        if len(text) <= len("2026-12-02"):
            due = datetime.combine(date.fromisoformat(text), deadline.due.time())
    except ValueError:
        raise ValueError(
            f"the extension {text!r} is no date such as 2026-12-02, no time such as"
            " 2026-12-02 12:00 and no number of days"
        ) from None
    if due.tzinfo is not None:
        due = due.astimezone(ZoneInfo(deadline.time_zone)).replace(tzinfo=None)
    if due.year not in YEARS:
        raise ValueError(f"the extension {text!r} is in a year that cannot be meant")
    if due < deadline.due:
        raise ValueError(f"the extension {text!r} is before the deadline, {deadline.due}")
    return due


def _place(local: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant of a time on the clock; where there are two readings, the later.

    An hour that comes twice has two, and so has one that the clocks skip.
    """
    readings = [local.replace(tzinfo=zone, fold=fold) for fold in (0, 1)]
    return max(readings, key=lambda reading: reading.astimezone(UTC))


def _count_days(due: datetime, submitted: datetime, zone: ZoneInfo, grace: timedelta) -> int:
    """Count the civil days begun after the deadline, each with the same grace."""
    last = timedelta(seconds=1) if due.second else timedelta(minutes=1)  # lasts until it is over
    instant = submitted.astimezone(UTC)

    def is_within(days: int) -> bool:
        return instant < _place(due + timedelta(days=days), zone).astimezone(UTC) + last + grace

    if is_within(0):
        return 0
    local = instant.astimezone(zone).replace(tzinfo=None)
    days = max(1, min(MAX_DAYS, (local - due).days - 1 - grace.days))
    while not is_within(days) and days < MAX_DAYS:
        days += 1
    return days


def show_time(moment: datetime | None) -> str:
    """Return a time as ISO 8601 to the second, or nothing."""
    return "" if moment is None else moment.isoformat(sep="T", timespec="seconds")


def read_time(text: str) -> datetime | None:
    """Return a time as an LMS writes it, or None where it cannot be read.

    Known are ISO 8601 with blanks where others have none, times with a zone's name behind
    them, and the two English forms of Moodle's worksheet.
    """
    text = " ".join(text.split())
    found = re.fullmatch(
        r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d)?)(?:[.,]\d+)? ?(.*)", text, re.ASCII
    )
    try:
        if found is None:
            moment = _read_words(text)
        else:
            moment = _attach(datetime.fromisoformat(f"{found[1]}T{found[2]}"), found[3])
    except (ValueError, OverflowError):
        return None
    return moment if moment is not None and moment.year in YEARS else None


def _attach(moment: datetime, zone: str) -> datetime | None:
    if not zone:
        return moment
    if zone in ("Z", "UTC", "GMT"):
        return moment.replace(tzinfo=UTC)
    if re.fullmatch(r"[+-]\d\d:?\d\d(?::\d\d)?", zone):
        return datetime.fromisoformat(moment.isoformat() + zone)
    known = load_zone(zone)
    return None if known is None else moment.replace(tzinfo=known)


_MONTHS = ("january february march april may june july august september october november"
           " december").split()  # fmt: skip
_WORDS = re.compile(
    r"(?:[a-z]+, )?(?:(?P<day>\d{1,2}) (?P<month>[a-z]+)|(?P<month2>[a-z]+) (?P<day2>\d{1,2})),?"
    r" (?P<year>\d{4}),? (?P<hour>\d{1,2}):(?P<minute>\d\d)(?: ?(?P<half>am|pm))?"
)


def _read_words(text: str) -> datetime | None:
    found = _WORDS.fullmatch(text.casefold())
    if found is None:
        return None
    name = found["month"] or found["month2"]
    months = [n for n, month in enumerate(_MONTHS, 1) if name in (month, month[:3])]
    if not months:
        return None
    hour = int(found["hour"])
    if found["half"]:
        hour = hour % 12 + 12 * (found["half"] == "pm")
    day = date(int(found["year"]), months[0], int(found["day"] or found["day2"]))
    return datetime.combine(day, time(hour, int(found["minute"])))
