"""`otter run` for several submissions, in one process: otter's own command, called again and again.

Usage: python otter_run.py AUTOGRADER_ZIP SUBMISSION... ; results go to <submission>-marks/.
"""

import sys
from pathlib import Path

from otter.cli import cli


def main(autograder: str, *submissions: str) -> None:
    for submission in submissions:
        out = Path(submission).with_suffix("")
        out = out.with_name(f"{out.name}-marks")
        out.mkdir()
        arguments = ["run", "--autograder", autograder, "--output-dir", str(out), submission]
        cli.main(arguments, prog_name="otter", standalone_mode=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
