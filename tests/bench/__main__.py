"""`make bench`: measures on this machine and writes docs/bench.md.

python -m bench [PART ...]      parts: class start student growth peers
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import peers, speed, student

PAGE = Path(__file__).resolve().parents[2] / "docs" / "bench.md"
ASSIGNMENT = "attention"
PARTS: dict[str, tuple[str, Callable[[], Iterator[tuple[str, str]]]]] = {
    "class": ("A class over the floor", lambda: speed.report_class(ASSIGNMENT, 200)),
    "start": ("Start-up", lambda: speed.report_start(ASSIGNMENT)),
    "student": ("A student's check", lambda: student.report(ASSIGNMENT)),
    "growth": ("Growth", lambda: speed.report_growth(ASSIGNMENT, (50, 200, 1000))),
    "peers": ("Beside nbgrader and otter-grader", lambda: peers.report(ASSIGNMENT)),
}
HEAD = """\
# Measurements

Made by `make bench`. Figures of one run on one machine: compare their ratios, not the times.
The floor is the same tests on the same submissions in one warm process for each core, with no
sandbox, no second judgement, no diagnosis and no report.
"""


def main(names: list[str]) -> None:
    lines = [HEAD, f"Machine: {os.cpu_count()} cores, Python {platform.python_version()}.", ""]
    for name in names or PARTS:
        title, measure = PARTS[name]
        print(f"{title} ...", flush=True)
        lines += [f"## {title}", "", "| what | measured |", "|---|---|"]
        for what, figure in measure():
            print(f"  {what}: {figure}", flush=True)
            lines.append(f"| {what} | {figure} |")
        lines.append("")
    if names:
        print("Not written to docs/bench.md: that takes all parts.")
    else:
        PAGE.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
