"""The commands that the documentation shows, to be run as they stand there."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^## (?P<heading>[^\n]*)$|^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S)
RELEASE = "make release A=attention"


def read_blocks(page: str, heading: str, kind: str = "sh") -> list[str]:
    """Return the blocks of one kind below a heading of docs/platforms/<page>.md; "" is the top."""
    text = (ROOT / "docs" / "platforms" / f"{page}.md").read_text(encoding="utf-8")
    blocks, current = [], ""
    for found in BLOCK.finditer(text):
        if found["heading"]:
            current = found["heading"]
        elif current == heading and found["kind"] == kind:
            blocks.append(found["text"])
    assert blocks, f"{page}.md shows no {kind} below {heading!r}"
    return blocks


def run(commands: str, folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run lines of a shell with this Python's programs at hand; `make release` has been run."""
    env = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
        "PYTHONUTF8": "1",
        "PYTHONWARNINGS": "ignore",
        **changes,
    }
    lines = [line for line in commands.splitlines() if line != RELEASE]
    return subprocess.run(
        ["bash", "-euc", "\n".join(lines)],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=540,
    )


def succeed(commands: str, folder: Path, **changes: str) -> str:
    """Run lines of a shell that must succeed; return all that they said."""
    done = run(commands, folder, **changes)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-4000:]
    return said
