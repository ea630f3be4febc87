"""Builds a student's layer of learned positions and finds the table in it, whatever its name."""

from typing import Any

import torch
from comparison import require_module, tensor_of
from torch import Tensor


def new_layer(submission: Any, max_len: int, d_model: int) -> Any:
    """Return a layer in evaluation mode as the student's constructor makes it."""
    layer = submission.LearnedPositions(max_len, d_model)
    require_module(layer, "LearnedPositions(max_len, d_model)")
    layer.eval()
    return layer


def name_of_table(layer: Any, max_len: int, d_model: int) -> str:
    """Return the name of the one parameter that has a row for every place, or ""."""
    names = [
        name
        for name, parameter in layer.named_parameters()
        if [size for size in parameter.shape if size != 1] == [max_len, d_model]
    ]
    return names[0] if len(names) == 1 else ""


def with_table(submission: Any, table: Tensor, length: int) -> tuple[Any, str]:
    """Return a new layer that holds `table` (max_len, d_model), and the table's name in it.

    The name is "" for a layer that has no such table; it then keeps what it has, and the test
    about the number of parameters charges it. A layer that takes no `length` below max_len is
    charged by the test about lengths; elsewhere it gets a table that fits.
    """
    layer, name = _with_whole_table(submission, table)
    if not takes(layer, 2, length, table.shape[1]):
        return _with_whole_table(submission, table[:length])
    return layer, name


def takes(layer: Any, batch: int, length: int, d_model: int = 6) -> bool:
    """Say whether a layer takes so many tokens without raising anything."""
    try:
        with torch.no_grad():
            layer(torch.ones(batch, length, d_model))
    except NotImplementedError:
        raise
    except Exception:
        return False
    return True


def _with_whole_table(submission: Any, table: Tensor) -> tuple[Any, str]:
    layer = new_layer(submission, *table.shape)
    name = name_of_table(layer, *table.shape)
    if name:
        state = dict(layer.state_dict())
        state[name] = table.reshape(state[name].shape).clone()
        layer.load_state_dict(state)
    return layer, name


def run(layer: Any, x: Tensor) -> Tensor:
    """Return the answer to a copy of `x`, without gradients."""
    with torch.no_grad():
        return tensor_of(layer(x.clone()), tuple(x.shape))


def numbers(*shape: int) -> Tensor:
    """Return numbers between -2 and 2 without a pattern."""
    count = torch.arange(float(torch.Size(shape).numel()))
    return 2 * (count * 2.3 + 0.7).sin().reshape(shape)
