"""Does a submission in this process offer what a remote one offers, and leave no trace?"""

from __future__ import annotations

import sys

import pytest
import torch

from autograder.assignment import load
from autograder.local import import_locally

ATTENTION = load("attention")
FILES = {
    exercise.file: (ATTENTION.solution_dir / exercise.file).read_bytes()
    for exercise in ATTENTION.exercises
}
BUILTIN = b"""
from torch.nn import functional as F
def positional_encoding(max_len, d_model):
    return F.scaled_dot_product_attention(*[__import__("torch").ones(1, 2, 4)] * 3)
"""


def test_it_computes_and_is_gone_afterwards() -> None:
    before, path = set(sys.modules), list(sys.path)
    with import_locally(ATTENTION, FILES) as program:
        assert program.MultiHeadAttention(12, 3)(torch.ones(2, 5, 12)).shape == (2, 5, 12)
        assert "def forward" in program.sources["multi_head_attention.py"]
        with pytest.raises(AttributeError):
            _ = program.nothing_of_this_name
    assert {name for name in set(sys.modules) - before if "attention" in name} == set()
    assert sys.path == path


def test_what_is_blocked_raises_until_the_test_ends() -> None:
    with import_locally(ATTENTION, FILES | {"positional_encoding.py": BUILTIN}) as program:
        assert program.positional_encoding(2, 4).shape == (1, 2, 4)
        path = "torch.nn.functional.scaled_dot_product_attention"
        with pytest.raises(RuntimeError, match="not to be used"):
            program.without(path, "torch.nn.MultiheadAttention").positional_encoding(2, 4)
        with pytest.raises(RuntimeError, match="not to be used"):
            torch.nn.MultiheadAttention(4, 2)
        program.end_test()
        assert program.positional_encoding(2, 4).shape == (1, 2, 4)
        assert torch.nn.MultiheadAttention(4, 2).num_heads == 2
