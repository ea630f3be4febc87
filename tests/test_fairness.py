"""Does no odd thing that a student's code returns ever break a graded test?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.assignment import load
from autograder.judge import Judge
from autograder.sandbox import Station

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
def judge(warm_station: Station) -> Iterator[Judge]:
    judge = Judge(load("attention"), warm_station)
    yield judge
    judge.close()


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


BLOCK = """
import torch
import torch.nn.functional as F
from positional_encoding import positional_encoding
from torch import nn

{core}

class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, d_model)
        self.register_buffer("table", positional_encoding(max_len, d_model))
        self.qkv, self.out = nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)
        self.num_heads = num_heads

    def forward(self, token_ids):
        batch, length = token_ids.shape
        if length > len(self.table):
            raise ValueError("too long")
        x = self.embed(token_ids) + self.table[:length]
        heads = self.qkv(x).view(batch, length, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        y = core(*heads.unbind())
        return self.out(y.transpose(1, 2).reshape(batch, length, -1))
"""
READY_MADE = {
    "called": "def core(q, k, v): return F.scaled_dot_product_attention(q, k, v)",
    "called by another spelling": """
def core(q, k, v): return getattr(F, "scaled_dot_" + "product_attention")(q, k, v)
""",
    "scripted": """
@torch.jit.script
def core(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor):
    return F.scaled_dot_product_attention(q, k, v)
""",
    "looked at": """
HAS_SCALE = "scale" in F.scaled_dot_product_attention.__doc__
def core(q, k, v): return F.scaled_dot_product_attention(q, k, v)
""",
    "tried out at import": """
TRIED = nn.MultiheadAttention(4, 2)(*[torch.ones(1, 2, 4)] * 3)
def core(q, k, v): return F.scaled_dot_product_attention(q, k, v)
""",
    "in a pool of threads": """
from concurrent.futures import ThreadPoolExecutor
def core(q, k, v):
    return ThreadPoolExecutor(1).submit(F.scaled_dot_product_attention, q, k, v).result()
""",
    "behind a catch-all": """
def core(q, k, v):
    try:
        return F.scaled_dot_product_attention(q, k, v)
    except BaseException:
        return q
""",
    "in a child whose answer is waited for in a loop": """
import os
def core(q, k, v):
    read, write = os.pipe()
    os.set_blocking(read, False)
    if os.fork() == 0:
        y = getattr(F, "scaled_dot_" + "product_attention")(q, k, v)
        os.write(write, y.detach().contiguous().numpy().tobytes())
        os._exit(0)
    data = b""
    while len(data) < 4 * q.numel():
        try:
            data += os.read(read, 1 << 16)
        except BlockingIOError:
            pass
    os.wait()
    os.close(read), os.close(write)
    own = torch.softmax(q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5, -1) @ v
    y = torch.frombuffer(bytearray(data), dtype=torch.float32).view(q.shape)
    return own + (y - own).detach()
""",
    "where nothing can end": """
import os
os._exit = lambda code: None
def core(q, k, v): return F.scaled_dot_product_attention(q, k, v)
""",
}


@pytest.mark.parametrize("core", READY_MADE.values(), ids=READY_MADE)
def test_a_block_may_use_ready_made_attention_in_any_way(judge: Judge, core: str) -> None:
    """Though the first worker of a submission does without: see `workers`."""
    files = read_reference() | {"attention_block.py": BLOCK.format(core=core)}
    judgement = judge.judge(files)
    assert [(t.id, t.staff_message) for t in judgement.tests if t.verdict != "passed"] == []


LAYER = """
import torch
import torch.nn.functional as F
from torch import nn
{core}

class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads:
            raise ValueError("d_model does not divide into so many heads")
        self.num_heads = num_heads
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x):
        batch, length, d_model = x.shape
        parts = [part(x) for part in (self.Wq, self.Wk, self.Wv)]
        heads = [p.view(batch, length, self.num_heads, -1).transpose(1, 2) for p in parts]
        return self.Wo(core(*heads).transpose(1, 2).reshape(batch, length, d_model))
"""


@pytest.mark.parametrize("state", ["{}", "super().state_dict(*a, **k) if next(turn) % 2 else {}"])
def test_who_hides_parameters_breaks_no_test(judge: Judge, state: str) -> None:
    files = read_reference()
    for file in ("multi_head_attention.py", "attention_block.py"):
        files[file] = f"import itertools\nturn = itertools.count()\n{files[file]}\n"
        files[file] += f"    def state_dict(self, *a, **k):\n        return {state}\n"
    judgement = judge.judge(files)
    broken = [(t.id, t.staff_message) for t in judgement.tests if t.verdict == "grader_error"]
    assert broken == []
    for file in ("multi_head_attention", "attention_block"):
        assert any(t.verdict != "passed" for t in judgement.tests if t.exercise == file)


UNEVEN = {
    "names that count": "self.register_buffer(f'number{len(made)}', torch.zeros(1))",
    "a part that comes later": "if len(made) > 3: self.register_buffer('late', torch.zeros(1))",
    "a part that changes": "self.register_buffer('odd', torch.zeros(len(made) % 3 + 1))",
    "a part of its own": "self.register_buffer('own', torch.randn(2))",
    "a part of the first alone": "if len(made) == 1: self.register_buffer('m', torch.zeros(1))",
    "another order": "if len(made) > 1: reverse(self._modules)",
    "ever another order": "if len(made) % 3: reverse(self._modules)",
    "a key to the rest": "self.own = keys.register(self)",
}
HELPERS = """
import torch
made = []
def reverse(modules):
    for name in reversed(list(modules)):
        modules[name] = modules.pop(name)
class keys:
    @staticmethod
    def register(module):
        key = torch.randperm(40)
        module.register_buffer("key", key.clone())
        module.register_forward_hook(lambda _, x, y: y if torch.equal(module.key, key) else y * 0)
"""


@pytest.mark.parametrize("line", UNEVEN.values(), ids=UNEVEN)
@pytest.mark.parametrize("file", ["multi_head_attention.py", "attention_block.py"])
def test_no_two_modules_of_a_size_need_be_alike(judge: Judge, file: str, line: str) -> None:
    files = read_reference()
    before, _, after = files[file].rpartition("    def forward")
    more = f"        made.append(0)\n        {line}\n\n"
    files[file] = f"{HELPERS}\n{before.rstrip()}\n{more}    def forward{after}"
    failed = {test.id for test in judge.judge(files).tests if test.verdict != "passed"}
    # Two tests give one layer the state of another, which some of these cannot take.
    assert failed <= {
        f"multi_head_attention::test_{name}" for name in ("ready_made", "second_call")
    }


@pytest.mark.parametrize("core", READY_MADE.values(), ids=READY_MADE)
def test_a_layer_of_ready_made_attention_is_charged_for_that_alone(judge: Judge, core: str) -> None:
    files = read_reference() | {"multi_head_attention.py": LAYER.format(core=core)}
    judgement = judge.judge(files)
    failed = [test.id for test in judgement.tests if test.verdict != "passed"]
    assert failed == ["multi_head_attention::test_ready_made"]
