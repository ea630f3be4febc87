"""Grades a class: what is new or has changed is judged, all else is kept.

Each student's files are written as soon as they are judged. An interruption (Ctrl-C)
lets what is being judged finish, writes the tables and can be resumed.
"""

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Protocol

from autograder.assignment import Assignment
from autograder.digest import Digester
from autograder.errors import KitError, UnknownStudent, UnwritableFolder, suggest_nearest
from autograder.gallery import find_gallery
from autograder.intake import Intake, Submission, find_submissions
from autograder.lookalikes import find_lookalikes, read_starter
from autograder.plaintext import clean_line
from autograder.regrading import DIGESTS, Regrading
from autograder.report import ClassFacts, Row, render_grades, render_overview
from autograder.results import Judgement, Result
from autograder.roster import Roster
from autograder.storage import OutputFolder
from autograder.totals import make_result

LEVELS = ("process", "full")  # of isolation, weakest first
INTERRUPTED = 130


class Pool(Protocol):
    """Where submissions are judged."""

    isolation: str
    jobs: int  # how many it judges at once

    def submit(
        self, files: dict[str, bytes], exercises: Collection[str] = (), /
    ) -> Future[Judgement]: ...

    def close(self) -> None: ...

    def stop(self) -> None: ...


StartPool = Callable[[str, int, str], Pool]  # assignment id, jobs, isolation


class Progress(Protocol):
    """Who wants to know how far grading is."""

    def begin(self, total: int, isolation: str) -> None: ...

    def advance(self, result: Result) -> None: ...


class Silence:
    """A progress that nobody watches."""

    def begin(self, total: int, isolation: str) -> None: ...

    def advance(self, result: Result) -> None: ...


@dataclass
class Summary:
    """What a run has done."""

    assignment: Assignment
    rows: list[Row]  # the whole class
    graded: list[str] = field(default_factory=list)  # students judged in this run
    kept: list[str] = field(default_factory=list)  # students whose result was up to date
    outdated: list[str] = field(default_factory=list)  # of an earlier run, not asked for in this
    left_behind: list[str] = field(default_factory=list)  # of an earlier run, not in this class
    unwritten: dict[str, str] = field(default_factory=dict)  # students, and why not
    intake: Intake = field(default_factory=lambda: Intake([], []))
    isolation: str = ""  # empty when nothing had to be judged
    seconds: float = 0.0
    is_interrupted: bool = False

    @property
    def failed(self) -> list[str]:
        """The students whose grading failed through a fault of ours."""
        return [row.student for row in self.rows if row.status == "grader_error"]

    @property
    def exit_code(self) -> int:
        if self.is_interrupted:
            return INTERRUPTED
        return 2 if self.failed or self.unwritten else 0


def grade_class(
    assignment: Assignment,
    source: Path | None,
    out: Path,
    *,
    roster: Roster | None = None,
    jobs: int = 1,
    only: Sequence[str] = (),
    fresh: bool = False,
    isolation: str = "auto",
    require_isolation: str = "",
    progress: Progress | None = None,
    start: StartPool | None = None,
) -> Summary:
    """Grade a class into a folder; without `source`, the assignment's own gallery.

    Args:
        assignment: what was asked.
        source: a folder, an archive or a single submission.
        out: the folder to write.
        roster: who is in the class, where that is known.
        jobs: how many submissions to judge at once.
        only: ids of students; the others are listed from earlier results.
        fresh: judge anew what is up to date, too.
        isolation: "auto", or the level to use.
        require_isolation: the weakest level to accept, earlier results included.
        progress: is told when a student is done.
        start: makes the pool; the real one unless a test gives another.

    Raises:
        KitError: the kit or the call is at fault; nothing was graded for that reason.
    """
    if source is None:
        intake = find_gallery(assignment)
    else:
        intake = find_submissions(source, assignment, roster)
    chosen = _choose(intake, only)
    run = _Run(assignment, OutputFolder(out), progress or Silence())
    with run.folder.open():
        run.look_back(intake, chosen, fresh=fresh, least=require_isolation)
        if not run.waiting:
            run.write_class(intake, source)
            return run.summary
        with (
            _heed_interrupts(run),
            _open_pool(assignment, jobs, isolation, require_isolation, start) as pool,
        ):
            try:
                run.judge(pool)
            except BaseException:  # a second Ctrl-C, a full disk: nothing is worth waiting for
                pool.stop()
                raise
            finally:
                run.write_class(intake, source)
    return run.summary


class _Run:
    """One run: what is still to be judged, and what is known so far."""

    def __init__(self, assignment: Assignment, folder: OutputFolder, progress: Progress) -> None:
        self.assignment = assignment
        self.folder = folder
        self.progress = progress
        self.summary = Summary(assignment, [])
        self.known: dict[str, Result] = {}
        self.waiting: list[tuple[Submission, str]] = []
        self.began = time.monotonic()
        self.seconds: dict[str, float] = {}  # that judging took, by student
        self.regrading = Regrading(assignment, folder.path)

    def look_back(
        self, intake: Intake, chosen: list[Submission], *, fresh: bool, least: str
    ) -> None:
        """Keep the results that are up to date; queue the others; settle the ungradable."""
        digester = Digester(self.assignment)
        names = {submission.student for submission in chosen}
        for submission in intake.submissions:
            student, parts = submission.student, digester.split(submission)
            digest = parts.digest
            self.regrading.know(student, parts)
            earlier = self.folder.read_result(self.assignment, student)
            is_current = earlier is not None and earlier.digest == digest
            if student not in names:
                if earlier is not None:
                    self.known[student] = earlier
                    if not is_current:
                        self.summary.outdated.append(student)
            elif submission.ungradable:
                result = make_result(self.assignment, submission, digest)
                if earlier != result:
                    self._write(submission, result)
                else:
                    self.known[student] = result
            elif earlier is not None and is_current and not fresh and _is_kept(earlier, least):
                self.known[student] = earlier
                self.summary.kept.append(student)
            else:
                if earlier is not None and not fresh and _is_kept(earlier, least):
                    self.regrading.plan(student, earlier)
                self.waiting.append((submission, digest))

    def judge(self, pool: Pool) -> None:
        """Judge what waits, a few more at a time than the pool takes, and write each result."""
        self.summary.isolation = pool.isolation
        self.progress.begin(len(self.waiting), pool.isolation)
        running: dict[Future[Judgement], tuple[Submission, str]] = {}
        queue = iter(self.waiting)
        while True:
            while len(running) < 2 * pool.jobs and not self.summary.is_interrupted:
                item = next(queue, None)
                if item is None:
                    break
                some = self.regrading.choose(item[0].student, pool.isolation)
                files = item[0].files
                running[pool.submit(files, some) if some else pool.submit(files)] = item
            if not running:
                # Ctrl-C when nothing was left to begin has interrupted nothing.
                self.summary.is_interrupted = next(queue, None) is not None
                return
            # A time limit, so that the signal handler gets its turn on every system.
            done, _ = wait(running, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                submission, digest = running.pop(future)
                judgement = _take(future)
                if isinstance(judgement, Judgement):
                    judgement = self.regrading.complete(submission.student, judgement)
                result = make_result(self.assignment, submission, digest, judgement)
                seen = b""
                if isinstance(judgement, Judgement):
                    self.seconds[submission.student] = judgement.seconds
                    seen = judgement.pictures if result.status == "graded" else b""
                if self._write(submission, result, seen):
                    self.summary.graded.append(submission.student)
                self.progress.advance(result)

    def _write(self, submission: Submission, result: Result, seen: bytes = b"") -> bool:
        """Write a student's files; where just theirs cannot be, the class goes on."""
        try:
            self.folder.write_result(self.assignment, submission, result, seen)
        except UnwritableFolder as error:
            self.summary.unwritten[submission.student] = str(error)
            return False
        self.known[submission.student] = result
        return True

    def write_class(self, intake: Intake, source: Path | None) -> None:
        """Write the tables and the page about the whole class."""
        rows = [
            Row(submission.student, self.known.get(submission.student), submission.late)
            for submission in intake.submissions
        ]
        rows += [Row(student, None, is_absent=True) for student in intake.absent]
        rows.sort(key=lambda row: row.student)
        self.summary.rows = rows
        self.summary.intake = intake
        self.summary.left_behind = self.folder.list_others(row.student for row in rows)
        self.summary.seconds = time.monotonic() - self.began
        found = {"assignment": self.assignment.id, "source": str(source or "gallery")}
        described = {**found, **intake.describe()}
        timings = self.folder.read_timings()
        timings.students.update(self.seconds)
        if self.summary.graded:
            timings.seconds = round(self.summary.seconds, 3)
        facts = ClassFacts(
            intake=described,
            seconds={row.student: timings.students.get(row.student) for row in rows},
            outdated=self.summary.outdated,
            lookalikes=find_lookalikes(
                {submission.student: submission.files for submission in intake.submissions},
                read_starter(self.assignment),
            ),
        )
        self.folder.write("grades.csv", render_grades(self.assignment, rows))
        self.folder.write("report.html", render_overview(self.assignment, rows, facts))
        self.folder.write("intake.json", described)
        self.folder.write(DIGESTS, self.regrading.describe(self.known))
        self.folder.write_timings(timings)


def _take(future: Future[Judgement]) -> Judgement | str:
    """Return a judgement, or why the judge failed: the class goes on without it."""
    try:
        return future.result()
    except Exception as error:
        return f"the judge failed: {type(error).__name__}: {error}"


def _is_kept(result: Result, least: str) -> bool:
    """Tell whether an earlier result need not be judged again."""
    if result.status != "graded":
        return False
    return not least or (
        result.isolation in LEVELS and LEVELS.index(result.isolation) >= LEVELS.index(least)
    )


def _choose(intake: Intake, only: Sequence[str]) -> list[Submission]:
    if not only:
        return intake.submissions
    chosen = []
    for wanted in only:
        fit = [s for s in intake.submissions if wanted == s.student]
        fit = fit or [s for s in intake.submissions if wanted == s.original]
        if not fit:
            hint = suggest_nearest(wanted, [s.student for s in intake.submissions])
            raise UnknownStudent(f"no submission of {clean_line(wanted)!r}; {hint}")
        chosen += fit
    return chosen


@contextlib.contextmanager
def _open_pool(
    assignment: Assignment, jobs: int, isolation: str, least: str, start: StartPool | None
) -> Iterator[Pool]:
    """Start a pool, unless it is less isolated than demanded, and close it."""
    if start is None:
        from autograder import pool as real  # imports torch: only when there is work

        start = real.start
    pool = start(assignment.id, jobs, isolation)
    try:
        if least and LEVELS.index(pool.isolation) < LEVELS.index(least):
            raise KitError(
                f"isolation {least!r} is required, but only {pool.isolation!r} can be had here."
                " Install bubblewrap and allow user namespaces, or require less."
            )
        yield pool
    finally:
        pool.close()


@contextlib.contextmanager
def _heed_interrupts(run: _Run) -> Iterator[None]:
    """Let the first Ctrl-C end the run in order, and a second one at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        run.summary.is_interrupted = True
        signal.signal(signal.SIGINT, earlier)

    earlier = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, earlier)
