"""autograder template: what students get, built from the solution."""

import click

from autograder.cli.machine import show_path


@click.command(epilog="Example: autograder template attention")
@click.argument("assignment")
def template(assignment: str) -> int:
    """Build what students get, student_template/ASSIGNMENT, from the solution."""
    from autograder.assignment import load
    from autograder.template import write_template

    declared = load(assignment)
    write_template(declared)
    click.echo(f"Built {show_path(declared.template_dir)}")
    return 0
