"""What `autograder grade` shows: how far it is, and in the end how the class did.

A part of the command line: on a terminal a bar, elsewhere plain lines. Students' words
are shown as text, never as markup.
"""

import io
from decimal import Decimal
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.measure import Measurement
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from autograder.grading import Summary
from autograder.plaintext import clean_line
from autograder.report.grades import Row
from autograder.results import Result, format_points

MAX_ROWS = 40  # of a class above this, only those who need attention are listed
MAX_REMARKS = 10
MAX_NAME = 22  # characters of a name in the table; the remarks have it whole


class _Rate(ProgressColumn):
    """Submissions per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.finished_speed or task.speed or 0:.1f}/s")


class _Left(TimeRemainingColumn):
    """The time left, said to be that."""

    def render(self, task: Task) -> Text:
        return Text.assemble(super().render(task), " left")


class Terminal:
    """Shows the progress of grading, and its summary."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, markup=False, emoji=False)
        count = (BarColumn(), MofNCompleteColumn())
        columns = (TextColumn("grading"), *count, _Rate(), _Left())
        # Refreshed by hand: judges are forked, and forking beside a thread is unsafe.
        self.bar = Progress(*columns, console=self.console, auto_refresh=False, transient=True)
        self.task = self.bar.add_task("grading", total=None, visible=False)
        self.total = self.done = 0

    def __enter__(self) -> "Terminal":
        if self.console.is_terminal:
            self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.console.is_terminal:
            self.bar.stop()

    def begin(self, total: int, isolation: str) -> None:
        """Say how many there are to grade, and how far apart they are kept."""
        noun = "submission" if total == 1 else "submissions"
        self.console.print(f"Grading {total} {noun}, isolation: {isolation}", soft_wrap=True)
        self.total = total
        self.bar.update(self.task, total=total, visible=True)

    def advance(self, result: Result) -> None:
        """Show that one more is done."""
        self.done += 1
        if self.console.is_terminal:
            self.bar.update(self.task, advance=1, refresh=True)
        else:
            said = _describe(Row(result.student, result))
            line = f"{self.done}/{self.total} {result.student}: {said}"
            self.console.print(clean_line(line, 400), soft_wrap=True)

    def show(self, summary: Summary, out: Path) -> None:
        """Show how the class did and where the files are."""
        self._show_table(summary)
        lines = [*_list_intake(summary), *_list_remarks(summary), *_list_conclusions(summary, out)]
        for line in lines:
            self.console.print(clean_line(line, 1000), soft_wrap=True)

    def _show_table(self, summary: Summary) -> None:
        rows = summary.rows
        if len(rows) > MAX_ROWS:
            rows = [row for row in rows if row.score is None][:MAX_ROWS]
        if not rows:
            return
        if not self.console.is_terminal:  # a log has no width
            table = _make_table(summary, rows, longest=200)
            wide = Console(width=10_000, file=io.StringIO(), color_system=None)
            with wide.capture() as captured:
                wide.print(table)
            for line in captured.get().splitlines():
                self.console.print(line.rstrip(), soft_wrap=True)
            return
        table = _make_table(summary, rows)
        room = self.console.options
        if Measurement.get(self.console, room.update(width=10_000), table).minimum > room.max_width:
            table = _make_table(summary, rows, with_exercises=False)
        self.console.print(table)


def _describe(row: Row) -> str:
    if row.result is None or row.score is None:
        return row.status.replace("_", " ")
    return f"{format_points(row.score)} of {format_points(row.result.max_score)}"


def _make_table(
    summary: Summary, rows: list[Row], *, longest: int = MAX_NAME, with_exercises: bool = True
) -> Table:
    exercises = summary.assignment.exercises if with_exercises else ()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("student", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    for exercise in exercises:
        table.add_column(Text(clean_line(exercise.title, 60)), justify="right")
    table.add_column("", no_wrap=True)
    for row in rows:
        name = Text(clean_line(row.student))
        name.truncate(longest, overflow="ellipsis")
        scores = [row.score, *(row.scores.get(exercise.id) for exercise in exercises)]
        cells = [Text("" if score is None else format_points(score)) for score in scores]
        table.add_row(name, *cells, Text(_name_state(row, summary)))
    return table


def _name_state(row: Row, summary: Summary) -> str:
    """Say in a word or two what the scores do not."""
    if row.result is None:
        return "absent" if row.is_absent else "not graded yet"
    if row.result.status != "graded":
        return row.status.replace("_", " ")
    return "outdated" if row.student in summary.outdated else ""


def _list_intake(summary: Summary) -> list[str]:
    """List how submissions were found: what was sure, what was not, and what was left out."""
    intake = summary.intake
    lines = [f"Read as {intake.layout}."] if intake.layout not in ("", "plain") else []
    if intake.opened:
        lines.append(f"The class was read from what is in {_name_some(intake.opened)}.")
    renamed = [s for s in intake.submissions if not s.members and s.student != s.original]
    if renamed:
        listed = [f"{s.original!r} is {s.student}" for s in renamed]
        lines.append(f"Called otherwise than they were: {_name_some(listed)}.")
    unsure = [s for s in intake.submissions if s.matched and s.certainty != "sure"]
    lines += _cut(
        [f"{s.student}: {s.origin} is {s.certainty} theirs, matched by {s.matched}" for s in unsure]
    )
    lines += _cut([f"{s.student}: {remark}" for s in intake.submissions for remark in s.remarks])
    again = sum(bool(s.attempts) for s in intake.submissions)
    if again:
        lines.append(f"{again} handed in more than once: the newest counts.")
    if intake.absent:
        lines.append(f"Handed in nothing: {_name_some(intake.absent)}.")
    lines += _cut([f"Left out: {item.path}: {item.reason}" for item in intake.left_out])
    if summary.left_behind:
        lines.append(
            f"Results of earlier runs, not of this class: {_name_some(summary.left_behind)}."
        )
    return lines


def _cut(lines: list[str]) -> list[str]:
    """Return lines, of which there are too many, up to a number."""
    if len(lines) <= MAX_REMARKS:
        return lines
    return [*lines[:MAX_REMARKS], f"... and {len(lines) - MAX_REMARKS} more such, in report.html."]


def _name_some(students: list[str]) -> str:
    shown = ", ".join(students[:MAX_REMARKS])
    more = len(students) - MAX_REMARKS
    return f"{shown} and {more} more" if more > 0 else shown


def _list_remarks(summary: Summary) -> list[str]:
    """List what there is to say about single students, who may be left out of the table."""
    lines = []
    for row in summary.rows:
        if row.result is not None and row.result.status != "graded":
            lines.append(f"{row.student} is {_describe(row)}: {clean_line(row.result.reason, 400)}")
        elif row.result is not None and row.result.flags:
            flags = ", ".join(clean_line(flag, 60) for flag in row.result.flags)
            lines.append(f"{row.student}: {flags}")
    lines = _cut(lines)
    if summary.outdated:
        lines.append(f"Outdated, of an earlier run: {_name_some(summary.outdated)}.")
    return lines


def _list_conclusions(summary: Summary, out: Path) -> list[str]:
    scores = [row.score for row in summary.rows if row.score is not None]
    students = "student" if len(summary.rows) == 1 else "students"
    first = f"{len(summary.rows)} {students}: {len(summary.graded)} graded"
    if summary.kept:
        first += f", {len(summary.kept)} unchanged"
    if scores:
        mean = format_points(round(sum(scores, Decimal(0)) / len(scores), 1))
        first += f", their mean {mean} of {format_points(summary.assignment.points)}"
    lines = [f"{first}, in {summary.seconds:.1f} s."]
    if summary.isolation == "process":
        lines.append(
            "Isolation is only 'process' here: do not grade work that you do not trust."
            " With bubblewrap installed it is 'full'."
        )
    if summary.failed:
        lines.append(
            f"The grader failed on {', '.join(summary.failed[:5])}: no score is published for"
            " them. The reason is in their result.json; run again once it is mended."
        )
    lines += [f"{student}: {why}" for student, why in list(summary.unwritten.items())[:5]]
    if summary.unwritten:
        lines.append(
            f"{len(summary.unwritten)} could not be written, and have no score. Run again once"
            " that is mended: only they are graded."
        )
    if summary.is_interrupted:
        lines.append("Interrupted: run the same command again to grade the rest.")
    lines.append(f"Grades: {out / 'grades.csv'}   class: {out / 'report.html'}")
    lines.append(f"Feedback: {out}/<student>/feedback.html")
    return lines
