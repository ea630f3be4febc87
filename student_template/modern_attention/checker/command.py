"""The command line of `check.py`, and `check` for notebooks."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from checker import folder, output, words
from checker.kept import explain_loss, keep_cells


def check(exercise: str, namespace: dict[str, Any] | None = None) -> None:
    """Run the public tests of one exercise and print what they say.

    Args:
        exercise: its id, such as "positional_encoding", its file or its number.
        namespace: where to take your classes and functions from, in a notebook `globals()`;
            without it from the exercise's file.
    """
    from checker.judge import judge

    try:
        (chosen,) = folder.choose(exercise)
        accounts = words.group(judge([chosen], namespace))
    except folder.Problem as problem:
        print(problem)
        return
    style = words.Style(sys.stdout)
    show([chosen], accounts, style)
    cells = (namespace or {}).get("In")  # what has been run, oldest first
    if isinstance(cells, list):
        for name in keep_cells(map(str, cells), chosen["names"]).lost:
            print(f"{style.mark('bad')} {explain_loss(name)}.")


def main(arguments: Sequence[str], usage: str | None) -> int:
    """Run `check.py`. Returns 0 whatever the marks, 2 when it could not do what was asked."""
    output.prepare()
    options = parse(arguments, usage)
    try:
        folder.require_packages()
        return run(options)
    except folder.Problem as problem:
        print(problem, file=sys.stderr)
        return 2
    except PermissionError as error:
        print(f"{error.filename} cannot be written: {error.strerror}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped.", file=sys.stderr)
        return 130


def parse(arguments: Sequence[str], usage: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="check.py", description=usage, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("exercise", nargs="?", default="", help="one exercise; all without it")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--watch", action="store_true", help="check again at every save")
    what.add_argument("--plots", action="store_true", help="make pictures")
    what.add_argument("--submit", action="store_true", help="write the zip to hand in")
    what.add_argument("--verbose", action="store_true", help="show everything that pytest says")
    what.add_argument(
        "--hint", type=int, nargs="?", const=1, choices=(1, 2, 3), help="a hint: 1, 2 or 3"
    )
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> int:
    if options.submit:
        from checker.packing import NOTEBOOK, submit

        if options.exercise not in ("", "notebook", NOTEBOOK):
            raise folder.Problem("--submit packs all exercises; leave the exercise out.")
        return submit(with_notebook=bool(options.exercise))
    chosen = folder.choose(options.exercise)
    if options.watch:
        from checker.watch import watch

        return watch(chosen)
    if options.plots:
        from checker.pictures import draw_all

        return draw_all()
    from checker.judge import judge, run_pytest

    if options.verbose:
        run_pytest(["-v"], chosen)
        return 0
    style = words.Style(sys.stdout)
    accounts = words.group(judge(chosen))
    show(chosen, accounts, style)
    following = words.next_step(chosen, accounts) or chosen[-1]
    if options.hint is not None:
        print(folder.hint(following["id"], options.hint))
    return 0


def show(
    exercises: Sequence[words.Exercise],
    accounts: dict[str, list[dict[str, Any]]],
    style: words.Style,
) -> None:
    for exercise in exercises:
        shaky = words.shaky_below(exercise, folder.EXERCISES, accounts)
        print("\n".join(words.describe(exercise, accounts.get(exercise["id"], []), style, shaky)))
    print()
    print("\n".join(words.conclude(exercises, accounts, style)))
