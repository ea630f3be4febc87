"""autograder release: an assignment in every form in which it goes out."""

from pathlib import Path

import click

from autograder.cli.machine import show_path


@click.command(epilog="Example: autograder release attention")
@click.argument("assignment")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to write.  [default: dist/ASSIGNMENT]"
)
def release(assignment: str, out: Path | None) -> int:
    """Build what goes out, dist/ASSIGNMENT: the students' bundle.

    The same sources make the same bytes. Nothing is built when something of the staff's
    would reach students.
    """
    from autograder.assignment import load
    from autograder.release import student

    declared = load(assignment)
    out = out or declared.root / "dist" / declared.id
    for form in (student,):
        for path in form.build(declared, out):
            click.echo(f"Built {show_path(path)}")
    return 0
