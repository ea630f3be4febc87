"""autograder verify: an assignment, held to everything that its author promises."""

from pathlib import Path

import click

from autograder.cli import machine
from autograder.cli.exits import EXIT_FAULT
from autograder.plaintext import clean_line


@click.command(epilog="Example: autograder verify attention")
@click.argument("assignment")
@click.option(
    "--jobs", type=click.IntRange(1, 256), help="Judges at once.  [default: one for each core]"
)
@click.option(
    "--graded",
    metavar="FOLDER",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Results of `autograder grade` for the gallery: what has not changed since is not judged"
    " again.",
)
@click.option(
    "--accept", is_flag=True, help="Write the verdicts found into the gallery; review the diff."
)
def verify(assignment: str, jobs: int | None, graded: Path | None, accept: bool) -> int:
    """Hold an assignment to everything that its author promises.

    The reference, the bare template and the gallery's right and wrong cases are judged, and every
    known mistake is tried on the tests. Each line that is not "ok" says what to do.
    """
    from autograder import pool
    from autograder import verify as verifying
    from autograder.assignment import load

    declared = load(assignment)
    running = pool.start(assignment, jobs or machine.count_cores())
    try:
        material = verifying.gather(declared, running, graded)
    finally:
        running.close()
    if accept:
        for student in verifying.accept(material):
            click.echo(f"accepted {student}")
        material = verifying.reread(material)
    failed = 0
    for finding in verifying.verify(material):
        failed += bool(finding.problems)
        figure = f" ({finding.figure})" if finding.figure else ""
        click.echo(f"{'FAIL' if finding.problems else 'ok  '} {finding.name}{figure}")
        for problem in finding.problems:
            click.echo(f"       {clean_line(problem)}")
    return EXIT_FAULT if failed else 0
