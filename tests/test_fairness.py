"""Does no odd thing that a student's code returns ever break a graded test?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.assignment import load
from autograder.judge import Judge
from autograder.sandbox import Station, Zygote

ROOT = Path(__file__).resolve().parent.parent
ODD = [
    "None", "True", "3", "2.5", "'text'", "()", "[]", "{}", "(None, None)", "[1, 2, 3]", "object()",
    "lambda *a: a", "int", "torch", "nn.Linear(3, 3)", "nn.Identity()", "torch.tensor(1.0)",
    "torch.zeros(0)", "torch.zeros(1, 1, 1)", "torch.full((2, 3, 4), float('nan'))",
    "torch.ones(2, 3, 4, dtype=torch.complex64)", "torch.ones(2, 3, 4, dtype=torch.int64)",
    "torch.ones(2, 3, dtype=torch.bool)", "torch.eye(3).to_sparse()",
    "torch.empty(3, device='meta')",
    "np.ones((2, 3))", "np.array(['a'])", "np.float32(1)", "(torch.ones(2, 3, 4),)",
    "{'output': torch.ones(2, 3, 4)}", "torch.ones(2, 3, 4, 5, 6)", "float('nan')", "1 << 80",
]  # fmt: skip
FILES = {
    "multi_head_attention": "MultiHeadAttention",
    "positional_encoding": "positional_encoding",
    "attention_block": "AttentionBlock",
}


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    zygote = Zygote.spawn(1)
    station = Station(zygote.channels[0])
    station.wait_ready()
    judge = Judge(load("attention"), station)
    yield judge
    judge.close()
    zygote.close()


def read_reference() -> dict[str, str]:
    folder = ROOT / "solutions" / "attention"
    return {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.py")}


def require_no_good_marks(judge: Judge, files: dict[str, str]) -> None:
    """No test breaks, and no exercise gets half of its points."""
    judgement = judge.judge(files)
    broken = [(t.id, t.staff_message) for t in judgement.tests if t.verdict == "grader_error"]
    assert broken == []
    for file in FILES:
        mine = [test for test in judgement.tests if test.exercise == file]
        assert sum(test.points for test in mine) < sum(test.max_points for test in mine) / 2


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_answer_is_judged(judge: Judge, odd: str) -> None:
    """Of layers that are constructed as they should be, and of functions."""
    files = read_reference()
    for file, name in FILES.items():
        target = f"{name}.forward" if name[0].isupper() else name
        changed = f"\n\n{target} = lambda *args: {odd}\n"
        files[f"{file}.py"] = "import numpy as np\n" + files[f"{file}.py"] + changed
    require_no_good_marks(judge, files)


@pytest.mark.parametrize("odd", ODD)
def test_an_odd_thing_in_place_of_a_name_is_judged(judge: Judge, odd: str) -> None:
    head = "import numpy as np\nimport torch\nfrom torch import nn\n"
    for made in ("def {name}(*args, **kwargs):\n    return {odd}\n", "{name} = {odd}\n"):
        files = {f"{f}.py": head + made.format(name=n, odd=odd) for f, n in FILES.items()}
        require_no_good_marks(judge, files)
