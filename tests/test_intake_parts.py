"""One source for several exercises: what becomes each one's file."""

import ast
import json

import pytest
from demo_kit import make_kit

from autograder.intake.matching import pick_files
from autograder.intake.notebook import extract_definitions
from autograder.intake.parts import take_part
from autograder.intake.tree import File, Folder

HELPER = "def half(x):\n    return x / 2\n"
LAYER = """\
class Layer:
    def forward(self, x):
        return half(x)

def double(x):
    return 2 * x
"""
BLOCK = "class Block:\n    def __init__(self):\n        self.layer = Layer()\n"


@pytest.fixture
def demo(tmp_path):
    return make_kit(tmp_path)


def make_notebook(*cells: str) -> str:
    made = [{"cell_type": "code", "source": cell, "outputs": [], "metadata": {}} for cell in cells]
    return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def pick(demo, **files):
    """What is graded of files, given by their names with __ for the dot."""
    listed = []
    for name, text in files.items():
        data = text.encode()
        name = name.replace("__", ".")
        listed.append(File(name, len(data), lambda limit, data=data: data))
    picked = pick_files(Folder("ada", files=listed), demo)
    return {name: data.decode() for name, data in picked.files.items()}, picked.notes


def names(source: str) -> set[str]:
    """What a source defines or imports at its top."""
    found: set[str] = set()
    for node in ast.parse(source).body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {alias.asname or alias.name for alias in node.names}
    return found


def test_an_exercise_imports_what_it_uses_of_another(demo):
    files, _ = pick(demo, work__ipynb=make_notebook(HELPER, LAYER, BLOCK))
    assert "from layer import Layer" in files["block.py"]
    assert "class Layer" not in files["block.py"] and "class Block" in files["block.py"]
    assert names(files["layer.py"]) == {"half", "Layer", "double"}


def test_the_same_for_one_python_file_which_is_otherwise_left_whole(demo):
    files, _ = pick(demo, all__py="import pandas\n" + HELPER + LAYER + BLOCK)
    assert names(files["block.py"]) == {"pandas", "half", "Layer", "double", "Block"}
    assert "from layer import Layer" in files["block.py"]
    assert names(files["layer.py"]) == {"pandas", "half", "Layer", "double", "Block"}


def test_of_a_notebook_only_what_is_needed_is_imported_and_defined(demo):
    plotting = "import seaborn as sns\nfrom check import check\ndef plot(x):\n    sns.heatmap(x)"
    layer = "import math\nfrom torch import *\nSCALE = 2\n" + LAYER.replace(
        "half(x)", "math.pi * SCALE"
    )
    files, _ = pick(demo, work__ipynb=make_notebook(plotting, layer, BLOCK))
    assert "seaborn" not in files["layer.py"] and "check" not in files["layer.py"]
    assert names(files["layer.py"]) == {"math", "*", "Layer", "double"}
    assert "SCALE = 2" in files["layer.py"] and "math" not in names(files["block.py"])


def test_a_method_that_is_attached_later_belongs_to_its_class(demo):
    cells = "class Layer:\n    pass\ndef forward(self, x):\n    return x\nLayer.forward = forward"
    files, _ = pick(demo, work__ipynb=make_notebook(cells, BLOCK, "def double(x): return x"))
    assert "Layer.forward = forward" in files["layer.py"]
    assert "Layer.forward" not in files["block.py"]  # there a right layer may take its place


def test_of_a_definition_that_is_made_twice_the_last_counts(demo):
    twice = make_notebook("class Layer:\n    x = 1", "class Layer:\n    x = 2", BLOCK)
    files, _ = pick(demo, work__ipynb=twice)
    namespace: dict[str, object] = {}
    exec(files["layer.py"], namespace)
    assert namespace["Layer"].x == 2


def test_what_python_wants_first_comes_first():
    cells = "import math\nX = 1", "from __future__ import annotations\ndef f() -> Y: pass"
    source, _ = extract_definitions(make_notebook(*cells))
    assert source.startswith("from __future__ import annotations")
    compile(source, "notebook", "exec")


def test_what_is_used_and_not_run_is_said():
    cells = "import torch\ntable = torch.arange(9)\nfor i in range(3): row = table[i]"
    used = "def double(x):\n    row = 1\n    return x + table[0] + row"
    _, notes = extract_definitions(make_notebook(cells, used))
    assert [note.split(" is used")[0] for note in notes] == ["table"]


def test_a_file_as_handed_out_yields_to_a_notebook_in_which_it_is_written(demo):
    stub = LAYER.replace("return half(x)", 'raise NotImplementedError("demo / layer")')
    folder = demo.template_dir
    folder.mkdir(parents=True)
    (folder / "layer.py").write_text(stub, encoding="utf-8")
    (folder / "block.py").write_text(BLOCK, encoding="utf-8")
    written = make_notebook(HELPER, LAYER)
    files, notes = pick(demo, layer__py=stub, block__py=BLOCK + "\n# mine", work__ipynb=written)
    assert "half(x)" in files["layer.py"]
    assert files["block.py"].endswith("# mine")
    assert any("layer.py was as it was handed out; the notebook" in note for note in notes)
    files, _ = pick(demo, layer__py=stub, work__ipynb=make_notebook(stub))
    assert files["layer.py"] == stub
    files, _ = pick(demo, layer__py="class Layer: pass", work__ipynb=written)
    assert files["layer.py"] == "class Layer: pass"  # a file of one's own beats a notebook


def test_a_whole_file_is_taken_as_it_is_when_nothing_is_used(demo):
    source = "# a comment\nprint('hello')\n\n\ndef double(x): return 2 * x\n"
    part = take_part(source, demo.exercise("layer"), [], prune=False)
    assert "print('hello')" in part and "def double" in part
