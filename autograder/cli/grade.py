"""autograder grade: a class, from submissions to marks and feedback."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from autograder.cli import machine
from autograder.cli.exits import EXIT_FAULT, EXIT_INTERRUPTED
from autograder.errors import KitError

if TYPE_CHECKING:
    from autograder.grading import Pool, StartPool, Summary


@click.command(epilog="Example: autograder grade attention submissions/ --only ada --fresh")
@click.argument("assignment")
@click.argument("submissions", type=click.Path(path_type=Path), required=False)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to write.  [default: grades/ASSIGNMENT]"
)
@click.option(
    "--roster",
    type=click.Path(path_type=Path),
    multiple=True,
    help="Who is in the class: roster.csv, or the gradebook or worksheet that the LMS exports."
    " Of several, the later ones add to the first.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="Judges at once.  [default: one for each core]"
)
@click.option("--only", multiple=True, metavar="STUDENT", help="Grade this student; repeatable.")
@click.option("--fresh", is_flag=True, help="Grade anew what has not changed, too.")
@click.option(
    "--isolation",
    type=click.Choice(["auto", "full", "process"]),
    default="auto",
    show_default=True,
    help="How submissions are kept apart.",
)
@click.option(
    "--require-isolation",
    type=click.Choice(["full", "process"]),
    help="Refuse to grade below this level.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Judge on the workers of this Dask cluster; docs/cluster.md.",
)
def grade(
    assignment: str,
    submissions: Path | None,
    out: Path | None,
    roster: tuple[Path, ...],
    jobs: int | None,
    only: tuple[str, ...],
    fresh: bool,
    isolation: str,
    require_isolation: str | None,
    cluster: str | None,
) -> int:
    """Grade a class.

    SUBMISSIONS is a folder with one folder, zip, .py or .ipynb per student, an archive of
    such a folder, the archive that Canvas, Moodle or Gradescope exports, a folder with nothing
    but such an archive in it, a tree of nbgrader's, a folder of git clones, or a single
    submission. Without it the assignment's own gallery of right, wrong and hostile submissions
    is graded.

    A student whose files have not changed is not graded again, so an interrupted run can
    be repeated to finish it.
    """
    from autograder.assignment import load
    from autograder.grading import grade_class
    from autograder.roster import read_rosters
    from autograder.terminal import Terminal

    declared = load(assignment)
    terminal = Terminal()
    out = out or Path("grades") / assignment
    if submissions is not None:
        if str(submissions) in ("", "."):
            raise KitError("no folder of submissions is named. Is a shell variable empty?")
        if out.resolve().is_relative_to(submissions.resolve()):
            raise KitError(f"{out} lies in the submissions. Give a folder beside them with --out.")
    try:
        with terminal:
            summary = grade_class(
                declared,
                submissions,
                out,
                roster=read_rosters(roster),
                # Many hostile cases of the gallery do nothing but let their time run out.
                jobs=jobs or machine.count_cores() * (1 if submissions else 3),
                only=only,
                fresh=fresh,
                isolation=isolation,
                require_isolation=require_isolation or "",
                progress=terminal,
                start=_cluster_at(cluster) if cluster else None,
            )
    except KeyboardInterrupt:
        click.echo(f"Interrupted. What was graded is in {out}; run again to finish.", err=True)
        return EXIT_INTERRUPTED
    terminal.show(summary, out)
    if submissions is None and not _is_as_declared(summary):
        return EXIT_FAULT
    return summary.exit_code


def _is_as_declared(summary: "Summary") -> bool:
    """Says whether the gallery got the verdicts that its cases declare."""
    from autograder.expectation import compare_all

    results = {
        row.student: row.result for row in summary.rows if row.result and row.status == "graded"
    }
    count, lines = compare_all(summary.assignment.gallery_dir, results)
    if not lines:
        click.echo(f"All {count} right and wrong cases got the verdicts that they declare.")
        return True
    for line in lines[:20]:
        click.echo(line, err=True)
    click.echo(
        f"{len(lines)} verdicts are not those that the gallery declares. Run:"
        f" autograder verify {summary.assignment.id}",
        err=True,
    )
    return False


def _cluster_at(address: str) -> "StartPool":
    def start(assignment_id: str, jobs: int, isolation: str) -> "Pool":
        from autograder.cluster import connect

        return connect(address, assignment_id, isolation)

    return start
