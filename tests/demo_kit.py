"""A throw-away kit with one small assignment, for tests that need one."""

from pathlib import Path

from autograder import assignment
from autograder.assignment import Assignment

DECLARATION = """
id = "demo"
title = "A demonstration"
points = "10"

[[exercises]]
id = "layer"
title = "A layer"
file = "layer.py"
names = ["Layer", "double"]
student_writes = ["Layer.forward", "double"]
points = "7.5"
public_points = "2.5"

[[exercises]]
id = "block"
title = "A block"
file = "block.py"
names = ["Block"]
student_writes = ["Block"]
points = "2.5"
public_points = "0"
uses = ["layer"]
"""

LAYER = b"class Layer:\n    pass\n\n\ndef double(x):\n    return 2 * x\n"
BLOCK = b"class Block:\n    pass\n"

FILES = {
    "assignments/demo/assignment.toml": DECLARATION.encode(),
    "assignments/demo/handout.md": b"# A demonstration\n",
    "assignments/demo/tests/test_layer.py": b"",
    "solutions/demo/layer.py": LAYER,
    "solutions/demo/block.py": BLOCK,
    "solutions/demo/tests/test_layer.py": b"",
    "solutions/demo/tests/test_block.py": b"",
}


def write_files(folder: Path, files: dict[str, bytes | str]) -> Path:
    """Write files, given by their paths in `folder`, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def make_kit(root: Path) -> Assignment:
    """Write the kit into `root` and return its assignment."""
    write_files(root, FILES)
    return assignment.load("demo", root)
