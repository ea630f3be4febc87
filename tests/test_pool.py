"""What a judge's process does around judging; runs of a whole class are in test_grading."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

HOLES = """
from autograder import pool

def held():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 >> 20

blocks = [bytes(100_000) for _ in range(2000)]
last = blocks.pop()
del blocks
before = held()
pool._give_back_memory()
print(before - held())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_memory_of_large_answers_is_given_back() -> None:
    """One small thing behind them keeps 190 MiB in the hands of the C library."""
    done = subprocess.run([sys.executable, "-c", HOLES], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 100
