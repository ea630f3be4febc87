"""Is any right way of writing it right? Programs put together from parts, by all graded tests.

Each part of a program can be written in several right ways and some wrong ones. Right parts in any
combination must pass every test; with one wrong part, the test about the whole answer must fail.
The tests run here, on programs in this process, as `verify` runs them on known mistakes.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from autograder.assignment import load
from autograder.session import GradedTest, Session

PROGRAMS = 30  # right ones of each exercise; wrong ones are as many as there are wrong parts

ROPE = (
    "import math\nimport numpy as np\nimport torch\n\n"
    "def apply_rope(x, positions, base=10000.0):\n"
    "    d = x.shape[-1]\n"
    "    freq = {freq}\n    angle = {angle}\n    {pairs}\n    {turn}\n    return {join}\n"
)
ROPE_PARTS = {
    "freq": (
        [
            "base ** (-torch.arange(0, d, 2) / d)",
            "1.0 / base ** (torch.arange(0, d, 2).float() / d)",
            "torch.exp(torch.arange(0, d, 2) * (-math.log(base) / d))",
            "torch.tensor([base ** (-2 * i / d) for i in range(d // 2)], dtype=torch.float64)",
            "torch.logspace(0, -1 + 2 / d, d // 2, base=base)",
            "torch.from_numpy(np.power(float(base), -2 * np.arange(d // 2) / d)).float()",
        ],
        [
            "base ** (-torch.arange(d // 2) / d)",
            "base ** (-2 * torch.arange(0, d, 2) / d)",
            "10000.0 ** (-torch.arange(0, d, 2) / d)",
            "base ** (torch.arange(0, d, 2) / d)",
            "torch.linspace(1, 1 / base, d // 2)",
        ],
    ),
    "angle": (
        [
            "positions[:, None] * freq",
            "torch.outer(positions.to(freq.dtype), freq)",
            "torch.einsum('i,j->ij', positions.to(freq), freq)",
            "torch.stack([p * freq for p in positions])",
            "(positions.unsqueeze(-1) * freq).view(1, 1, len(positions), -1)",
        ],
        [
            "torch.arange(x.shape[2])[:, None] * freq",
            "(positions + 1)[:, None] * freq",
            "torch.deg2rad(positions[:, None] * freq)",
            "(positions[:, None] * freq).half().float()",
        ],
    ),
    "pairs": (
        [
            "a, b = x[..., 0::2], x[..., 1::2]",
            "a, b = x.unflatten(-1, (-1, 2)).unbind(-1)",
            "a, b = x.reshape(*x.shape[:-1], d // 2, 2).permute(4, 0, 1, 2, 3)",
        ],
        ["a, b = x.chunk(2, dim=-1)", "b, a = x[..., 0::2], x[..., 1::2]"],
    ),
    "turn": (
        [
            "c, s = angle.cos(), angle.sin(); u, v = a * c - b * s, a * s + b * c",
            "z = torch.complex(a, b).to(torch.complex128) * torch.exp(1j * angle.double());"
            " u, v = z.real, z.imag",
            "r, t = torch.hypot(a, b), torch.atan2(b, a) + angle; u, v = r * t.cos(), r * t.sin()",
        ],
        [
            "c, s = angle.cos(), angle.sin(); u, v = a * c + b * s, b * c - a * s",
            "c, s = angle.cos(), angle.sin(); u, v = a * c + b * s, a * s + b * c",
            "u = a * angle.cos() - b * angle.sin(); v = u * angle.sin() + b * angle.cos()",
            "u, v = a + angle.sin(), b + angle.cos()",
        ],
    ),
    "join": (
        [
            "torch.stack((u, v), dim=-1).flatten(-2).to(x.dtype)",
            "torch.stack([u, v], -1).reshape(x.shape).float()",
            "torch.cat([u.unsqueeze(-1), v.unsqueeze(-1)], -1).flatten(3).type_as(x)",
        ],
        [
            "torch.cat((u, v), dim=-1).to(x.dtype)",
            "torch.stack((v, u), -1).flatten(-2).to(x.dtype)",
        ],
    ),
}

ALIBI = (
    "import math\nimport torch\n\n"
    "def alibi_bias(num_heads, length):\n"
    "    n = {power}\n    slopes = {slopes}\n"
    "    slopes = torch.tensor(slopes, dtype=torch.float64)\n"
    "    i = torch.arange(length)[:, None]\n    j = torch.arange(length)[None]\n"
    "    bias = {bias}\n    return {above}\n"
)
ALIBI_PARTS = {
    "power": (
        [
            "2 ** int(math.log2(num_heads))",
            "1 << (num_heads.bit_length() - 1)",
            "max(2**k for k in range(12) if 2**k <= num_heads)",
        ],
        ["2 ** math.ceil(math.log2(num_heads))", "num_heads"],
    ),
    "slopes": (
        [
            "[2 ** (-8 * (h + 1) / n) for h in range(n)]"
            " + [2 ** (-4 * (2 * h + 1) / n) for h in range(num_heads - n)]",
            "[2 ** (-8 * (h + 1) / n) if h < n else 2 ** (-8 * (h - n + 0.5) / n)"
            " for h in range(num_heads)]",
            "[0.5 ** (8 / n * k) for k in (*range(1, n + 1), *[h / 2 for h in range(1, 2 * n, 2)])]"
            "[:num_heads]",
        ],
        [
            "[2 ** (-8 * (h + 1) / num_heads) for h in range(num_heads)]",
            "[2 ** (-8 * h / n) for h in range(n)]"
            " + [2 ** (-4 * (2 * h + 1) / n) for h in range(num_heads - n)]",
            "[2 ** (-4 * (2 * h + 1) / n) for h in range(num_heads - n)]"
            " + [2 ** (-8 * (h + 1) / n) for h in range(n)]",
        ],
    ),
    "bias": (
        [
            "slopes[:, None, None] * (j - i)",
            "-slopes.view(-1, 1, 1) * (i - j).abs()",
            "torch.einsum('h,ij->hij', -slopes, (i - j).clamp(min=0).double())",
            "torch.stack([m * torch.tril(j - i) for m in slopes])",
        ],
        [
            "slopes[:, None, None] * (i - j)",
            "slopes[:, None, None] * (j + 0 * i)",
            "-slopes[:, None, None] * (i - j) ** 2",
            "-slopes[:, None, None] * (i - j + 1)",
        ],
    ),
    "above": (
        [
            "bias.float()",
            "bias.masked_fill(j > i, float('-inf')).float()",
            "bias.tril().to(torch.float32)",
            "torch.where(j > i, torch.nan, bias).float()",
        ],
        ["bias.triu().float()", "bias.bfloat16().float()"],
    ),
}

GROUPED = """import math
import torch
from torch import nn

class GroupedQueryAttention(nn.Module):
    def __init__(self, d_model, num_heads, num_kv_heads):
        super().__init__()
        if d_model % num_heads or num_heads % num_kv_heads:
            raise ValueError("sizes do not divide")
        self.h, self.h_kv, self.d_k = num_heads, num_kv_heads, d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.Wv = nn.Linear(d_model, num_kv_heads * self.d_k)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x, mask=None):
        b, n, _ = x.shape
        g = self.h // self.h_kv
        q = self.Wq(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        k, v = (w(x).view(b, n, self.h_kv, self.d_k).transpose(1, 2) for w in (self.Wk, self.Wv))
        k, v = ({share} for t in (k, v))
        s = {scores}
        if mask is not None:
            s = {mask}
        w = {softmax}
        y = {merge}
        return self.Wo(y)
"""
GROUPED_PARTS = {
    "share": (
        [
            "t.repeat_interleave(g, dim=1)",
            "t[:, :, None].expand(-1, -1, g, -1, -1).reshape(b, self.h, n, self.d_k)",
            "t[:, torch.arange(self.h) // g]",
            "torch.stack([t] * g, 2).flatten(1, 2)",
            "torch.cat([t[:, [head // g]] for head in range(self.h)], 1)",
        ],
        ["t.repeat(1, g, 1, 1)", "t[:, :1].expand(-1, self.h, -1, -1)"],
    ),
    "scores": (
        [
            "q @ k.mT / math.sqrt(self.d_k)",
            "torch.einsum('bhid,bhjd->bhij', q, k) * self.d_k**-0.5",
            "(q / self.d_k**0.25) @ (k / self.d_k**0.25).transpose(-2, -1)",
            "(q[:, :, :, None] * k[:, :, None]).sum(-1) / self.d_k**0.5",
        ],
        ["q @ k.mT", "q @ k.mT / self.d_k", "q @ k.mT / math.sqrt(x.shape[-1])"],
    ),
    "mask": (
        [
            "s.masked_fill(~mask, -math.inf)",
            "torch.where(mask, s, -1e9)",
            "s + torch.zeros(n, n).masked_fill(mask.logical_not(), float('-inf'))",
            "s.masked_fill(mask == 0, torch.finfo(s.dtype).min)",
            "s - 1e30 * (1 - mask.float())",
        ],
        [
            "s.masked_fill(mask, -1e9)",
            "s.masked_fill(~mask.T, -1e9)",
            "s * mask",
            "s + mask",
            "s.masked_fill(torch.ones(n, n).triu(1).bool(), -1e9)",
        ],
    ),
    "softmax": (
        [
            "s.softmax(-1)",
            "(s - s.logsumexp(-1, keepdim=True)).exp()",
            "torch.nn.functional.softmax(s.double(), dim=3).to(x.dtype)",
            "(lambda e: e / e.sum(-1, keepdim=True))((s - s.amax(-1, keepdim=True)).exp())",
        ],
        ["s.softmax(-2)", "s.sigmoid()", "s.softmax(-1).softmax(-1)"],
    ),
    "merge": (
        [
            "(w @ v).transpose(1, 2).reshape(b, n, -1)",
            "torch.einsum('bhij,bhjd->bihd', w, v).flatten(2)",
            "torch.cat((w @ v).unbind(1), dim=-1)",
        ],
        ["(w @ v).reshape(b, n, -1)", "(w @ v).permute(0, 2, 3, 1).reshape(b, n, -1)"],
    ),
}

WRITERS: dict[str, tuple[str, dict[str, tuple[list[str], list[str]]], str]] = {
    "apply_rope": (ROPE, ROPE_PARTS, "apply_rope"),
    "alibi_bias": (ALIBI, ALIBI_PARTS, "alibi_bias"),
    "grouped_query_attention": (GROUPED, GROUPED_PARTS, "GroupedQueryAttention"),
}


@pytest.fixture(scope="module")
def tests() -> Iterator[dict[str, list[GradedTest]]]:
    session, threads = Session(load("modern_attention")), torch.get_num_threads()
    torch.set_num_threads(1)  # as in grading; these tensors are small
    yield {e: [test for test in session.tests if test.exercise == e] for e in WRITERS}
    torch.set_num_threads(threads)
    session.close()


def failing(exercise: str, chosen: dict[str, str], tests: list[GradedTest]) -> list[str]:
    """Which tests fail for the program that these parts make."""
    frame, _, name = WRITERS[exercise]
    namespace: dict[str, Any] = {}
    source = frame
    for part, text in chosen.items():
        source = source.replace("{" + part + "}", text)
    exec(source, namespace)
    program = SimpleNamespace(**{name: namespace[name]}, sources={})
    program.without = lambda *_: program
    failed = []
    for test in tests:
        try:
            with torch.random.fork_rng():
                test.item.obj(program)  # type: ignore[attr-defined]
        except Exception as error:
            failed.append(f"{test.id}: {error}")
    return failed


@pytest.mark.parametrize("exercise", WRITERS)
def test_right_parts_in_any_combination_pass_everything(
    exercise: str, tests: dict[str, list[GradedTest]]
) -> None:
    parts = WRITERS[exercise][1]
    choices = random.Random(7)
    every = list(itertools.product(*(right for right, _ in parts.values())))
    for texts in choices.sample(every, PROGRAMS):
        chosen = dict(zip(parts, texts, strict=True))
        assert failing(exercise, chosen, tests[exercise]) == [], chosen


@pytest.mark.parametrize("exercise", WRITERS)
def test_one_wrong_part_fails_the_whole_answer(
    exercise: str, tests: dict[str, list[GradedTest]]
) -> None:
    parts = WRITERS[exercise][1]
    choices = random.Random(11)
    for part, (_, wrong) in parts.items():
        for text in wrong:
            chosen = {other: choices.choice(right) for other, (right, _) in parts.items()}
            failed = failing(exercise, chosen | {part: text}, tests[exercise])
            assert f"{exercise}::test_whole" in " ".join(failed), (part, text)
