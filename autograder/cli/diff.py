"""autograder diff: which marks are others than before, and which tests made them so."""

from pathlib import Path

import click

from autograder.plaintext import clean_line


@click.command(epilog="Example: autograder diff grades/before grades/attention")
@click.argument("old", type=click.Path(path_type=Path, exists=True))
@click.argument("new", type=click.Path(path_type=Path, exists=True))
def diff(old: Path, new: Path) -> int:
    """Compare two graded folders, or two result.json.

    Lists each student whose mark has changed, with the tests that changed it.
    """
    from autograder.changes import compare, show_gain

    changes = compare(old, new)
    marked = 0
    for student in changes.students:
        marked += student.is_marked_otherwise
        gain = f" ({show_gain(student.gain)})" if student.gain else ""
        same = "" if student.is_marked_otherwise else ", the same mark"
        click.echo(
            clean_line(f"{student.student}: {student.old} -> {student.new}{gain}{same}", 300)
        )
        for test in student.tests:
            gain = f" ({show_gain(test.gain)})" if test.gain else ""
            click.echo(f"    {test.id}: {test.old} -> {test.new}{gain}")
    for words, names in (("only in NEW", changes.added), ("only in OLD", changes.removed)):
        for name in names:
            click.echo(clean_line(f"{name}: {words}", 300))
    others = len(changes.students) - marked
    noun = "mark" if marked == 1 else "marks"
    click.echo(
        f"{marked} {noun} changed, {others} with other verdicts only,"
        f" {changes.unchanged} unchanged, {len(changes.added)} added,"
        f" {len(changes.removed)} removed."
    )
    return 0
