"""What `autograder grade` shows: how far it is, and in the end how the class did.

A part of the command line: on a terminal a bar, elsewhere plain lines. Students' words
are shown as text, never as markup.
"""

from decimal import Decimal
from pathlib import Path
from types import TracebackType

from rich.console import Console
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


class _Rate(ProgressColumn):
    """Submissions per second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.finished_speed or task.speed or 0:.1f}/s")


class Terminal:
    """Shows the progress of grading, and its summary."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, markup=False, emoji=False)
        count = (BarColumn(), MofNCompleteColumn())
        columns = (TextColumn("grading"), *count, _Rate(), TimeRemainingColumn())
        # Refreshed by hand: judges are forked, and forking beside a thread is unsafe.
        self.bar = Progress(*columns, console=self.console, auto_refresh=False, transient=True)
        self.task = self.bar.add_task("grading", total=None, visible=False)

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
        self.bar.stop()

    def begin(self, total: int, isolation: str) -> None:
        """Say how many there are to grade, and how far apart they are kept."""
        noun = "submission" if total == 1 else "submissions"
        self.console.print(f"Grading {total} {noun}, isolation: {isolation}", soft_wrap=True)
        self.bar.update(self.task, total=total, visible=True)

    def advance(self, result: Result) -> None:
        """Show that one more is done."""
        if self.console.is_terminal:
            self.bar.update(self.task, advance=1, refresh=True)
        else:
            line = f"  {result.student}: {_describe(Row(result.student, result))}"
            self.console.print(clean_line(line, 400), soft_wrap=True)

    def show(self, summary: Summary, out: Path) -> None:
        """Show how the class did and where the files are."""
        self.console.print(_make_table(summary))
        for line in _list_remarks(summary, out):
            self.console.print(clean_line(line, 1000), soft_wrap=True)


def _describe(row: Row) -> str:
    if row.result is None or row.score is None:
        return row.status.replace("_", " ")
    return f"{format_points(row.score)} of {format_points(row.result.max_score)}"


def _make_table(summary: Summary) -> Table:
    rows = summary.rows
    is_short = len(rows) > MAX_ROWS
    if is_short:
        rows = [row for row in rows if row.score is None][:MAX_ROWS]
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("student", overflow="fold")
    table.add_column("score", justify="right")
    for exercise in summary.assignment.exercises:
        table.add_column(exercise.id, justify="right", overflow="fold")
    table.add_column("remarks", overflow="fold")
    for row in rows:
        scores = [row.scores.get(exercise.id) for exercise in summary.assignment.exercises]
        table.add_row(
            Text(row.student),
            Text("" if row.score is None else format_points(row.score)),
            *(Text("" if score is None else format_points(score)) for score in scores),
            Text(_remark(row, summary)),
        )
    return table if rows else Table(box=None)


def _remark(row: Row, summary: Summary) -> str:
    if row.result is None:
        return "not graded yet"
    if row.result.status != "graded":
        return clean_line(f"{row.status.replace('_', ' ')}: {row.result.reason}", 160)
    words = [clean_line(flag, 60) for flag in row.result.flags]
    if row.student in summary.outdated:
        words.append("of an earlier run, and out of date")
    return ", ".join(words)


def _list_remarks(summary: Summary, out: Path) -> list[str]:
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
    if summary.is_interrupted:
        lines.append("Interrupted: run the same command again to grade the rest.")
    lines.append(f"Grades: {out / 'grades.csv'}   class: {out / 'report.html'}")
    lines.append(f"Feedback: {out}/<student>/feedback.html")
    return lines
