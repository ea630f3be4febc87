"""The command line. It is the only part of the engine that prints.

Exit codes: 0 done, whatever the marks; 2 the kit or the call is at fault; 130 interrupted.
"""

import os
import sys
from pathlib import Path

import click

from autograder import __version__
from autograder.errors import KitError
from autograder.plaintext import clean_line

EXIT_FAULT = 2
EXIT_INTERRUPTED = 130


@click.group(
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: autograder grade attention submissions/ --out grades/attention",
)
@click.version_option(__version__, prog_name="autograder")
@click.option("--debug", is_flag=True, help="Show the traceback of an unexpected error.")
def cli(debug: bool) -> None:
    """Grade exercises written in PyTorch, every submission apart from its tests."""


@cli.command(epilog="Example: autograder grade attention submissions/ --only ada --fresh")
@click.argument("assignment")
@click.argument("submissions", type=click.Path(path_type=Path), required=False)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder to write.  [default: grades/ASSIGNMENT]"
)
@click.option("--jobs", type=click.IntRange(1, 256), help="Judges at once.  [default: one a core]")
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
def grade(
    assignment: str,
    submissions: Path | None,
    out: Path | None,
    jobs: int | None,
    only: tuple[str, ...],
    fresh: bool,
    isolation: str,
    require_isolation: str | None,
) -> int:
    """Grade a class.

    SUBMISSIONS is a folder with one folder, zip, .py or .ipynb per student, an archive of
    such a folder, or a single submission. Without it the assignment's own gallery of right,
    wrong and hostile submissions is graded.

    A student whose files have not changed is not graded again, so an interrupted run can
    be repeated to finish it.
    """
    from autograder.assignment import load
    from autograder.grading import grade_class
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
                # Many hostile cases of the gallery do nothing but let their time run out.
                jobs=jobs or count_cores() * (1 if submissions else 4),
                only=only,
                fresh=fresh,
                isolation=isolation,
                require_isolation=require_isolation or "",
                progress=terminal,
            )
    except KeyboardInterrupt:
        click.echo(f"Interrupted. What was graded is in {out}; run again to finish.", err=True)
        return EXIT_INTERRUPTED
    terminal.show(summary, out)
    return summary.exit_code


@cli.command(epilog="Example: autograder template attention")
@click.argument("assignment")
def template(assignment: str) -> int:
    """Build what students get, student_template/ASSIGNMENT, from the solution."""
    from autograder.assignment import load
    from autograder.template import write_template

    declared = load(assignment)
    write_template(declared)
    click.echo(f"Built {show_path(declared.template_dir)}")
    return 0


@cli.command(epilog="Example: autograder verify attention")
@click.argument("assignment")
@click.option("--jobs", type=click.IntRange(1, 256), help="Judges at once.  [default: one a core]")
@click.option(
    "--accept", is_flag=True, help="Write the verdicts found into the gallery; review the diff."
)
def verify(assignment: str, jobs: int | None, accept: bool) -> int:
    """Hold an assignment to everything that its author promises.

    The reference, the bare template and the gallery's right and wrong cases are judged, and every
    known mistake is tried on the tests. Each line that is not "ok" says what to do.
    """
    from autograder import pool
    from autograder import verify as verifying
    from autograder.assignment import load

    declared = load(assignment)
    running = pool.start(assignment, jobs or count_cores())
    try:
        material = verifying.gather(declared, running)
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


def count_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def show_path(path: Path) -> str:
    """Return a path as short as it can be said from here."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit; every way out has one of the exit codes above."""
    arguments = sys.argv[1:] if arguments is None else arguments
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
    except BrokenPipeError:  # `autograder ... | head`: nobody reads on, which is no fault
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
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


if __name__ == "__main__":
    main()
