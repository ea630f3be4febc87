"""autograder new: the skeleton of an assignment."""

import click

from autograder.cli.machine import show_path


@click.command(epilog="Example: autograder new convolution --exercise conv1d")
@click.argument("assignment")
@click.option(
    "--exercise",
    default="first_exercise",
    show_default=True,
    help="Id of its first exercise, and name of the file that students write.",
)
def new(assignment: str, exercise: str) -> int:
    """Lay down the skeleton of ASSIGNMENT, whose comments say what to do.

    It is a whole assignment with one small exercise, so that every command works on it at once.
    Replace what is marked FILL IN; verify names what is left.
    """
    from autograder.assignment import find_root, load
    from autograder.scaffold import MARK, lay_down
    from autograder.template import write_template

    root = find_root()
    for path in lay_down(root, assignment, exercise):
        click.echo(show_path(path))
    write_template(load(assignment, root=root))
    click.echo(
        f"\nReplace what is marked {MARK}, first assignments/{assignment}/assignment.toml. Then:\n"
        f"  make template A={assignment}\n"
        f"  make verify A={assignment} ARGS=--accept"
    )
    return 0
