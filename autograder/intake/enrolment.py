"""Finds whose a submission is: by an id on the roster, or by a name that is nobody else's.

No guess puts one student's work into another's row. Where two readings are possible, the work
keeps the name that it came with, the roster's student counts as absent, and both are reported.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autograder.intake.layouts import Candidate, Identity
from autograder.intake.submission import Attempt
from autograder.lateness import show_time
from autograder.names import fold_slug, fold_words, list_slugs
from autograder.roster import Roster, Student

SURE, LIKELY, UNKNOWN = "sure", "likely", "unknown"


@dataclass
class Match:
    """A submission and the students of the roster whose it is, if any."""

    candidate: Candidate
    members: list[Student] = field(default_factory=list)
    how: str = ""
    certainty: str = UNKNOWN
    group: str = ""

    @property
    def name(self) -> str:
        """What the submission is called by: the roster's id, the group, or its own name."""
        if self.group:
            return self.group
        if self.members:
            return "+".join(student.id for student in self.members)
        return self.candidate.name

    def drop(self, remark: str) -> None:
        """Take the match back."""
        self.members, self.how, self.certainty, self.group = [], "", UNKNOWN, ""
        self.candidate.remarks.append(remark)


@dataclass(frozen=True)
class _Hit:
    student: Student
    how: str
    certainty: str


class Register:
    """A roster that can be asked for students."""

    def __init__(self, roster: Roster) -> None:
        self.roster = roster
        self._keys: dict[str, dict[str, list[Student]]] = defaultdict(lambda: defaultdict(list))
        for student in roster.students:
            for kind in ("canvas_id", "moodle_id", "sis_id", "email"):
                self._add(kind, getattr(student, kind), student)
            for login in {student.id, student.login, student.email, student.sis_id}:
                self._add("login", login, student)
            self._add("local", student.email.partition("@")[0], student)
            self._add("words", " ".join(fold_words(student.name)), student)
            for slug in set(list_slugs(student.name)):
                self._add("slug", slug, student)

    def _add(self, kind: str, key: str, student: Student) -> None:
        if key:
            self._keys[kind][key.casefold()].append(student)

    def _get(self, kind: str, key: str) -> list[Student]:
        return self._keys[kind].get(key.casefold(), []) if key else []

    def find(self, who: Identity, remarks: list[str]) -> _Hit | None:
        """Return the student that an identity means; say in `remarks` what is odd."""
        sure = list(self._find_by_ids(who))
        students = {hit.student.id for hit in sure}
        if len(students) > 1:
            listed = " and ".join(f"{hit.student.id} by {hit.how}" for hit in sure)
            remarks.append(f"its ids are those of different students: {listed}")
            return None
        if sure:
            hit = sure[0]
            if agrees(who, hit.student):
                return hit
            called = who.name or who.slug
            said = f"it is called {called!r}, but {hit.student.id} is {hit.student.name!r}"
            if who.canvas_id or who.moodle_id:  # a group's number, or a name made up to be misread
                remarks.append(f"{said}: if it is a group, say so in the roster's column group")
                return None
            remarks.append(said)
            return _Hit(hit.student, hit.how, LIKELY)
        return self._find_by_name(who, remarks)

    def _find_by_ids(self, who: Identity) -> Iterator[_Hit]:
        for kind, how in (
            ("canvas_id", "Canvas id"),
            ("moodle_id", "Moodle participant"),
            ("sis_id", "student number"),
            ("email", "email"),
            ("login", "id"),
        ):
            found = self._get(kind, getattr(who, kind))
            if len(found) == 1:
                yield _Hit(found[0], how, SURE)

    def _find_by_name(self, who: Identity, remarks: list[str]) -> _Hit | None:
        slug = fold_slug(who.slug)
        for found, how in (
            (self._get("local", who.login), "the beginning of the email"),
            (self._get("words", " ".join(fold_words(who.name or who.login))), "name"),
            (self._get("slug", slug), "name"),
        ):
            if len(found) == 1:
                return _Hit(found[0], how, LIKELY)
            if found:
                listed = ", ".join(student.id for student in found[:5])
                remarks.append(
                    f"more than one on the roster is called so ({listed}):"
                    " give the roster their canvas_id, moodle_id or email"
                )
                return None
        return None


def agrees(who: Identity, student: Student) -> bool:
    """Tell whether a name, where both sides have one, is the student's."""
    if not student.name:
        return True
    if who.name:
        return fold_words(who.name) == fold_words(student.name)
    if who.slug:
        return fold_slug(who.slug) in set(list_slugs(student.name))
    return True


def enrol(candidates: Sequence[Candidate], roster: Roster) -> list[Match]:
    """Find each submission's student or students."""
    if not roster.students:
        return [Match(candidate, certainty="") for candidate in candidates]
    register = Register(roster)
    matches = [_match(candidate, register) for candidate in candidates]
    _settle(matches)
    _complete_groups(matches, roster)
    for match in matches:
        if not match.members and not match.candidate.remarks:
            match.candidate.remarks.append("not on the roster")
    return matches


def _match(candidate: Candidate, register: Register) -> Match:
    if candidate.members:
        hits = [register.find(who, candidate.remarks) for who in candidate.members]
        known = [hit for hit in hits if hit is not None]
        if len(known) < len(hits):
            candidate.remarks.append(f"{len(hits) - len(known)} of its group are not on the roster")
        if not known:
            return Match(candidate)
        certainty = SURE if all(hit.certainty == SURE for hit in known) else LIKELY
        return Match(candidate, [hit.student for hit in known], known[0].how, certainty)
    remarks: list[str] = []
    hit = register.find(candidate.identity, remarks)
    who = candidate.identity
    group = register.roster.find_group(who.name or who.slug or who.login)
    if group and (hit is None or hit.student in group):
        return Match(candidate, group, "group", SURE, group[0].group)
    candidate.remarks += remarks
    return (
        Match(candidate) if hit is None else Match(candidate, [hit.student], hit.how, hit.certainty)
    )


def _settle(matches: list[Match]) -> None:
    """Let nobody have two submissions: the better founded one counts, or none."""
    claims: dict[str, list[Match]] = defaultdict(list)
    for match in matches:
        for student in match.members:
            claims[student.id].append(match)
    for who, rivals in claims.items():
        best = [match for match in rivals if match.certainty == SURE and match.members]
        best.sort(key=lambda match: -len(match.members))  # what counts for a group goes first
        rivals = [match for match in rivals if match.members]
        if len(rivals) < 2:
            continue
        if not best:
            for match in rivals:
                match.drop(f"{len(rivals)} submissions could be that of {who}: none was taken")
            continue
        for match in rivals:
            if match is not best[0]:
                where = best[0].candidate.origin
                match.drop(f"{who} has handed in {where}, which was taken; this one stands apart")
        if len(best) > 1:
            best[0].candidate.remarks.append(
                f"{who} has handed in more than once, and nothing says which is newer:"
                f" {', '.join(match.candidate.origin for match in best)}"
            )


def _complete_groups(matches: list[Match], roster: Roster) -> None:
    """Let the one submission of a group count for all of it."""
    holders: dict[str, list[Match]] = defaultdict(list)
    for match in matches:
        for group in {fold_slug(student.group) for student in match.members if student.group}:
            holders[group].append(match)
    for group, holding in holders.items():
        everyone = roster.find_group(group)
        covered = {student.id for match in holding for student in match.members}
        missing = [student for student in everyone if student.id not in covered]
        if not missing:
            continue
        if len(holding) == 1 and len(holding[0].members) == 1:
            match = holding[0]
            match.candidate.remarks.append(f"counts for the whole group {everyone[0].group}")
            match.group = match.group or match.members[0].id
            match.members = everyone
        elif len(holding) > 1:
            listed = ", ".join(student.id for student in missing)
            holding[0].candidate.remarks.append(
                f"group {everyone[0].group} has handed in {len(holding)} times; no work was taken"
                f" for {listed}"
            )


def merge_attempts(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Keep the newest of what one student has handed in more than once; list the others."""
    kept: dict[tuple[str, ...], Candidate] = {}
    merged: list[Candidate] = []
    for candidate in candidates:
        who = candidate.identity
        key = (who.canvas_id, who.slug, who.moodle_id, who.name, who.sis_id, who.email)
        if not (who.canvas_id or who.moodle_id or who.sis_id or who.email):
            merged.append(candidate)
            continue
        earlier = kept.get(key)
        if earlier is None:
            kept[key] = candidate
            merged.append(candidate)
            continue
        older, newer = _sort(earlier, candidate)
        if newer is not earlier:
            kept[key] = newer
            merged[merged.index(earlier)] = newer
        newer.attempts += [*older.attempts, Attempt(older.origin, show_time(older.submitted))]
    return merged


def _sort(first: Candidate, second: Candidate) -> tuple[Candidate, Candidate]:
    """Return the older and the newer; where nothing tells, the one found later is the newer."""
    if first.submitted and second.submitted and first.submitted != second.submitted:
        try:
            is_later = first.submitted > second.submitted
            return (second, first) if is_later else (first, second)
        except TypeError:  # only one of them has an offset
            pass
    if first.order > second.order:
        return second, first
    if first.order == second.order and not first.order:
        second.remarks.append(f"handed in twice, and nothing says which is newer: {second.origin}")
    return first, second
