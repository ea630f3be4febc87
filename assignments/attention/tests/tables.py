"""Fetches a student's table of positions, looking through slips of form."""

from typing import Any

import torch
from comparison import first_tensor, require, require_finite, require_numbers
from torch import Tensor


def table_of(submission: Any, max_len: int, d_model: int) -> Tensor:
    """Return `positional_encoding(max_len, d_model)` as a float32 tensor (max_len, d_model).

    A turned table, an axis of length 1 and rows too many are charged by the test about form.

    Raises:
        AssertionError: there is no such table in what came back.
    """
    with torch.no_grad():
        table = first_tensor(submission.positional_encoding(max_len, d_model), "the encoding")
    require_numbers(table, "the encoding")
    came = tuple(table.shape)
    table = table.detach().to(torch.float32)
    table = table.reshape([size for size in came if size != 1])
    if tuple(table.shape) == (d_model, max_len):
        table = table.T
    require(
        table.dim() == 2 and table.shape[0] >= max_len and table.shape[1] == d_model,
        f"the encoding has the shape {came}; expected {(max_len, d_model)}",
    )
    require_finite(table[:max_len], "the encoding")
    return table[:max_len]
