"""report.html: a class at a glance, for staff."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.assignment import Assignment
from autograder.lookalikes import Lookalikes
from autograder.plaintext import clean_line
from autograder.report.figures import average_exercises, distribute, measure_tests
from autograder.report.grades import ABSENT, Row
from autograder.report.pages import render_page
from autograder.results import format_points

SLOWEST = 10
FULL = "full"  # the isolation that needs no remark


@dataclass(frozen=True)
class ClassFacts:
    """What is known of a class besides its results."""

    intake: Mapping[str, Any] = field(default_factory=dict)  # the content of intake.json
    seconds: Mapping[str, float | None] = field(default_factory=dict)  # judging took, by student
    outdated: Sequence[str] = ()  # students whose result is of earlier files or tests
    lookalikes: Lookalikes = field(default_factory=Lookalikes)


@dataclass(frozen=True)
class Mistake:
    """A diagnosis, and the students who got it."""

    exercise: str
    faults: list[str]
    text: str
    students: list[str]


def render_overview(assignment: Assignment, rows: Sequence[Row], facts: ClassFacts) -> str:
    """Return the class page."""
    scores = [row.score for row in rows if row.score is not None]
    tests = measure_tests(rows)
    isolation = Counter(row.result.isolation for row in rows if row.result and row.result.isolation)
    return render_page(
        "report.html.j2",
        style="common.css report.css",
        script="report.js",
        assignment=assignment,
        maximum=format_points(assignment.points),
        source=clean_line(str(facts.intake.get("source", "")), 400),
        rows=[_describe(assignment, row, facts) for row in rows],
        statuses=sorted(Counter(row.status for row in rows).items()),
        isolation=sorted(isolation.items()),
        is_weakly_isolated=any(level != FULL for level in isolation),
        unfinished=[
            _describe(assignment, row, facts)
            for row in rows
            if row.status not in ("graded", ABSENT)
        ],
        absent=[row.student for row in rows if row.status == ABSENT],
        linked={row.student for row in rows if row.result is not None},
        outdated=sorted(facts.outdated),
        distribution=distribute(scores, assignment.points),
        averages=average_exercises(assignment, rows),
        tests=tests,
        doubtful=[test for test in tests if test.is_doubtful],
        mistakes=collect_mistakes(rows),
        slowest=_find_slowest(facts),
        lookalikes=facts.lookalikes,
        layout=clean_line(str(facts.intake.get("layout") or "")),
        intake=_read_intake(assignment, facts),
        left_out=_list_records(facts.intake, "left_out"),
    )


def collect_mistakes(rows: Sequence[Row]) -> list[Mistake]:
    """Return all diagnoses, the most frequent first, each with its students."""
    students: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    texts: dict[tuple[str, tuple[str, ...]], str] = {}
    for row in rows:
        for diagnosis in row.result.diagnosis if row.result else ():
            key = (diagnosis.exercise, tuple(diagnosis.faults))
            students[key].append(row.student)
            texts.setdefault(key, clean_line(diagnosis.text, 1000))
    mistakes = [Mistake(key[0], list(key[1]), texts[key], students[key]) for key in students]
    return sorted(mistakes, key=lambda m: (-len(m.students), m.exercise, m.faults))


def _describe(assignment: Assignment, row: Row, facts: ClassFacts) -> dict[str, object]:
    result = row.result
    diagnoses = result.diagnosis if result else []
    scores = [row.scores.get(exercise.id) for exercise in assignment.exercises]
    return {
        "student": row.student,
        "score": "" if row.score is None else format_points(row.score),
        "status": row.status.replace("_", " "),
        "late": row.late,
        "reason": clean_line(result.reason, 600) if result else "",
        "scores": ["" if score is None else format_points(score) for score in scores],
        "faults": list(dict.fromkeys(fault for d in diagnoses for fault in d.faults)),
        "carried_forward": result.carried_forward if result else [],
        "flags": result.flags if result else [],
        "isolation": result.isolation if result else "",
        "is_outdated": row.student in facts.outdated,
    }


def _find_slowest(facts: ClassFacts) -> list[tuple[str, str]]:
    known = [(seconds, student) for student, seconds in facts.seconds.items() if seconds]
    known.sort(key=lambda pair: (-pair[0], pair[1]))
    return [(student, f"{seconds:.1f}") for seconds, student in known[:SLOWEST]]


def _read_intake(assignment: Assignment, facts: ClassFacts) -> list[dict[str, str]]:
    """Return what intake.json says of each submission, as a page shows it."""
    lines = []
    for record in _list_records(facts.intake, "submissions"):
        files = record.get("files")
        found = [name for name in assignment.files if isinstance(files, Mapping) and name in files]
        said = [*_list_texts(record, "notes"), *_list_texts(record, "remarks")]
        for attempt in _list_records(record, "attempts"):
            said.append(f"does not count: {attempt.get('origin')} {attempt.get('submitted') or ''}")
        original, origin = str(record.get("original", "")), str(record.get("origin", ""))
        student = str(record.get("student", ""))
        certainty = str(record.get("certainty") or "")
        how = f", by {record['matched']}" if record.get("matched") else ""
        lines.append(
            {
                "student": student,
                "original": "" if original in (student, origin) else clean_line(original),
                "origin": clean_line(origin, 400),
                "matched": clean_line(f"{certainty}{how}"),
                "is_unsure": "yes" if certainty not in ("", "sure") else "",
                "submitted": clean_line(str(record.get("submitted") or "")),
                "files": "all" if len(found) == len(assignment.files) else ", ".join(found),
                "notes": clean_line("; ".join(said), 2000),
            }
        )
    return lines


def _list_texts(record: Mapping[str, Any], key: str) -> list[str]:
    texts = record.get(key)
    return [str(text) for text in texts] if isinstance(texts, list) else []


def _list_records(intake: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    records = intake.get(key)
    return [r for r in records if isinstance(r, Mapping)] if isinstance(records, list) else []
