"""autograder gradescope: what run_autograder calls on Gradescope."""

from pathlib import Path

import click


@click.command(hidden=True, epilog="Example: autograder gradescope /autograder")
@click.argument("root", type=click.Path(path_type=Path, file_okay=False))
def gradescope(root: Path) -> int:
    """Grade the submission in ROOT/submission and write ROOT/results/results.json.

    What is printed is for staff: Gradescope does not show it to students.
    """
    from autograder.platforms.gradescope import run

    for line in run(root):
        click.echo(line)
    return 0
