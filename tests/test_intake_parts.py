"""One source for several exercises: what becomes each one's file."""

import ast
import json
from typing import Any

import pytest
import torch
from demo_kit import make_kit

from autograder.intake.matching import pick_files
from autograder.intake.notebook import extract_definitions
from autograder.intake.parts import take_part
from autograder.intake.statements import read_statements
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


def keep(*cells: str, wanted: set[str] | None = None) -> tuple[set[str], list[str]]:
    """The names that are assigned in what is kept of cells, and those said to be missing."""
    source, notes = extract_definitions(make_notebook(*cells), wanted)
    compile(source, "notebook", "exec")
    nodes = [node for node in ast.parse(source).body if isinstance(node, (ast.Assign, ast.If))]
    stored = [part for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name)]
    kept = {part.id for part in stored if isinstance(part.ctx, ast.Store)}
    return kept, [note.split(" is used")[0] for note in notes]


@pytest.mark.parametrize(
    "value",
    [
        "lambda x: torch.softmax(x, -1)",
        "nn.Softmax(dim=-1)",
        "partial(torch.softmax, dim=-1)",
        "torch.nn.Softmax(SCALE - 9)",
        "make(-1)",
        "{'soft': nn.Softmax(dim=-1)}['soft']",
        "[nn.Softmax(dim=axis) for axis in (-1,)][0]",
        "nn.Softmax(0); softmax.dim = min(-1, 0)",
        "None\nif SCALE > 9:\n    softmax = None\nelse:\n    softmax = make(-1)",
    ],
)
def test_a_value_that_an_exercise_uses_is_there(demo, value):
    cells = [
        "import torch\nfrom torch import nn\nfrom functools import partial\nSCALE = 8",
        "def make(dim):\n    return nn.Softmax(dim=dim)",
        f"softmax = {value}",
        "class Layer:\n    def forward(self, x):\n        return softmax(x)",
        "layer = Layer()\nlosses = train(layer)\nfor loss in losses: print(loss)",
    ]
    files, notes = pick(demo, work__ipynb=make_notebook(*cells, "def double(x): return x"))
    assert not any("is used" in note for note in notes)
    assert "losses" not in files["layer.py"] and "layer = " not in files["layer.py"]
    space: dict[str, Any] = {}
    exec(files["layer.py"], space)
    assert space["Layer"]().forward(torch.ones(2, 4)).tolist() == [[0.25] * 4] * 2


def test_what_an_exercise_does_not_use_is_not_run(demo):
    cells = "import torch\nx = torch.ones(3)\ndef show():\n    return x, y\ny = [show() for _ in x]"
    layer = LAYER.replace("half(x)", "(lambda y: y)(x)")
    files, _ = pick(demo, work__ipynb=make_notebook(cells, layer))
    assert names(files["layer.py"]) == {"Layer", "double"}
    assert "ones" not in files["layer.py"] and "show" not in files["layer.py"]


@pytest.mark.parametrize(
    "cell",
    [
        "for i in range(3): table = i",
        "with torch.no_grad(): table = torch.ones(3)",
        "table = torch.load('table.pt')",
        "table = open('table.txt').read()",
        "table = input('? ')",
        "table = display(3)",
        "table = torch.ones(3)\nfor i in range(3): table[i] = i",
        "table = torch.ones(3)\nwhile True: table *= 2",
        "while True: rows = 3\ntable = torch.ones(rows)",
        "table = (rows := 3)",
        "table = await fetch()",
        "table: int\ntable = fetch(torch)",
    ],
)
def test_what_is_used_and_not_run_is_said(cell):
    used = "def double(x):\n    row = 1\n    return x + table[0] + row"
    _, lost = keep("import torch", "rows = 2", cell, used)
    assert lost == ["table"]
    assert keep("import torch", cell, used.replace("table", "torch"))[1] == []
    assert keep("import torch", cell, "table = 3", used)[1] == []  # it has a value again


def test_what_is_said_is_about_what_is_graded(demo):
    cells = "for i in range(3): loss = i", "def plot():\n    return loss"
    assert keep(*cells)[1] == ["loss"]
    assert keep(*cells, LAYER, wanted={"Layer"})[1] == []
    _, notes = pick(demo, work__ipynb=make_notebook(*cells, HELPER + LAYER))
    assert not any("is used" in note for note in notes)


def test_a_definition_is_not_replaced_by_what_a_cell_tries_out():
    cells = "import torch\ndef mask(n): return torch.ones(n)", "mask = mask(3)\nfor mask in []: 0"
    assert keep(*cells, "def double(x): return mask(x)") == (set(), [])


def test_a_function_that_was_written_anew_says_nothing():
    cells = "for i in range(3): old = i", "def double(x): return old", "def double(x): return 2 * x"
    assert keep(*cells) == (set(), [])
    assert keep(*cells[:2], "twice = double(1)", cells[2], "def f(): return twice")[1] == ["old"]


def test_after_a_star_any_name_may_be_there():
    cells = (
        "from torch import *\ntable = arange(9) * pi",
        "rows = input()\ndef f(): return table, rows",
    )
    assert keep(*cells) == ({"table"}, ["rows"])


def test_an_exercise_may_be_a_lambda(demo):
    cells = "class Layer: pass", "double = lambda x: 2 * x", "class Block:\n    twice = double"
    files, _ = pick(demo, work__ipynb=make_notebook(*cells))
    assert "double = lambda" in files["layer.py"]
    assert "from layer import double" in files["block.py"] and "lambda" not in files["block.py"]


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


@pytest.mark.parametrize("length", [0, 30_000])
def test_what_one_reader_changes_another_does_not_see(length):
    source = "x = [y for y in z]\n" + "# and so on\n" * (length // 12)
    (first,) = read_statements(source)
    first.uses.add("mine")
    first.binds.clear()
    (second,) = read_statements(source)
    assert (second.binds, second.uses, second.text) == ({"x"}, {"z"}, first.text)
