"""autograder release: an assignment in every form in which it goes out."""

from pathlib import Path

import click

from autograder.cli.machine import show_path

FORMS = ("student", "notebook", "forge", "nbgrader", "gradescope", "otter")


@click.command(epilog="Example: autograder release attention --only student --only nbgrader")
@click.argument("assignment")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to write.  [default: dist/ASSIGNMENT]"
)
@click.option("--only", type=click.Choice(FORMS), multiple=True, help="This form; repeatable.")
def release(assignment: str, out: Path | None, only: tuple[str, ...]) -> int:
    """Build what goes out into dist/ASSIGNMENT.

    student.zip and a notebook for students; a template repository for git forges; a course for
    nbgrader; an autograder for Gradescope; an assignment for otter-grader, which must be installed.

    The same sources make the same bytes. Nothing is built when something of the staff's
    would reach students.
    """
    import importlib

    from autograder.assignment import load

    declared = load(assignment)
    out = out or declared.root / "dist" / declared.id
    for name in only or FORMS:
        form = importlib.import_module(f"autograder.release.{name}")
        for path in form.build(declared, out):
            click.echo(f"Built {show_path(path)}")
    return 0
