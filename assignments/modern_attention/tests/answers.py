"""Calls a student's functions and looks through slips of form, which have a test of their own."""

from typing import Any

import numpy as np
import torch
from comparison import first_tensor, require, require_finite, require_numbers, tensor_of
from torch import Tensor


def matrix_of(submission: Any, k: int, d_model: int) -> Tensor:
    """Return `relative_offset(k, d_model)` as a float32 tensor (d_model, d_model)."""
    what = f"relative_offset({k}, {d_model})"
    with torch.no_grad():
        matrix = tensor_of(submission.relative_offset(k, d_model), (d_model, d_model), what)
    require_finite(matrix, what)
    return matrix


def turned(submission: Any, x: Tensor, positions: Any, *base: float) -> Tensor:
    """Return what `apply_rope` makes of a copy of `x`, for positions in a list."""
    with torch.no_grad():
        result = submission.apply_rope(x.clone(), torch.as_tensor(positions), *base)
        result = tensor_of(result, tuple(x.shape), "what apply_rope returns")
    require_finite(result, "what apply_rope returns")
    return result


def require_turned(before: Tensor, after: Tensor) -> None:
    """Check that something came of it: returning x as it is keeps many a promise."""
    gap = float((after - before).abs().max())
    require(gap > 1e-2, "at a position that is not 0, x comes back as it was: nothing is turned")


def bias_of(submission: Any, num_heads: int, length: int, is_strict: bool = False) -> Tensor:
    """Return `alibi_bias(num_heads, length)`, with zeros above the diagonal.

    What a student puts there is not looked at: a causal mask would hide it. A diagonal of -inf
    is taken for zeros, too, unless the test is a strict one.
    """
    what, shape = f"alibi_bias({num_heads}, {length})", (num_heads, length, length)
    with torch.no_grad():
        bias = tensor_of(submission.alibi_bias(num_heads, length), shape, what)
    is_seen = torch.ones(length, length, dtype=torch.bool).tril()
    if not is_strict and bool(torch.isinf(bias.diagonal(dim1=1, dim2=2)).all()):
        is_seen = is_seen.tril(-1)
    bias = torch.where(is_seen, bias, torch.zeros(()))
    require_finite(bias, f"{what}, on and below the diagonal,")
    return bias


def slopes_of(submission: Any, num_heads: int) -> Tensor:
    """Return by how much each head's bias changes from a token to the one before it."""
    bias = bias_of(submission, num_heads, 3)
    return bias[:, 1, 0] - bias[:, 1, 1]


def count_of(submission: Any, *sizes: int) -> int:
    """Return `attention_parameters(*sizes)` as an int.

    Raises:
        AssertionError: it is no whole number.
    """
    result = submission.attention_parameters(*sizes)
    result = result.item() if isinstance(result, np.generic) else result
    if isinstance(result, (Tensor, np.ndarray)):
        tensor = first_tensor(result, "the count")
        if not tensor.dtype.is_floating_point:
            tensor = tensor.double()
        require_numbers(tensor, "the count")
        result = tensor.item() if tensor.numel() == 1 else None
    is_number = isinstance(result, (int, float)) and not isinstance(result, bool)
    require(is_number, f"attention_parameters{sizes} is no number")
    require(float(result) == float(result) // 1, f"attention_parameters{sizes} is no whole number")
    return int(result)
