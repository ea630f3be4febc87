"""The command line, a module for each command. It is the only part of the engine that prints."""

import sys

import click

from autograder import __version__
from autograder.cli.diff import diff
from autograder.cli.exits import EXIT_FAULT, EXIT_INTERRUPTED
from autograder.cli.export import export
from autograder.cli.grade import grade
from autograder.cli.gradescope import gradescope
from autograder.cli.new import new
from autograder.cli.output import outlive_readers
from autograder.cli.release import release
from autograder.cli.template import template
from autograder.cli.verify import verify
from autograder.errors import KitError


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: autograder grade attention submissions/ --out grades/attention",
)
@click.version_option(__version__, prog_name="autograder")
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected error.")
def cli(debug: bool) -> None:
    """Grade exercises written in PyTorch, every submission apart from its tests."""


for command in (diff, export, grade, gradescope, new, release, template, verify):
    cli.add_command(command)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; every way out has one of the exit codes above."""
    if arguments is None:
        arguments = sys.argv[1:]
        outlive_readers()
    try:
        code = cli.main(args=arguments, prog_name="autograder", standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.ClickException as error:
        error.show()
        code = EXIT_FAULT
    except KitError as error:
        click.echo(f"autograder: {error}", err=True)
        code = EXIT_FAULT
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted.", err=True)
        code = EXIT_INTERRUPTED
    except Exception as error:
        if "--debug" in arguments:
            raise
        click.echo(
            f"autograder: an error in the grader itself: {type(error).__name__}: {error}\n"
            f"Please report it with the output of: autograder --debug {' '.join(arguments)}",
            err=True,
        )
        code = EXIT_FAULT
    sys.exit(code or 0)
