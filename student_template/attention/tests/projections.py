"""Builds a student's attention layer with weights that a test has chosen.

Tests never compare anything on random initial weights: they put their own into `Wq`, `Wk`,
`Wv` and `Wo`, chosen so that one property of the layer shows and nothing else does.
"""

from typing import Any

import torch
from comparison import require, require_module, tensor_of
from remembered import Known, copied, like_first
from torch import Tensor

NAMES = ("Wq", "Wk", "Wv", "Wo")

Projection = tuple[Tensor | float, Tensor | float]
"""Weight (d_model, d_model) and bias (d_model,); a number stands for a whole tensor of it."""


def new_layer(submission: Any, d_model: int, num_heads: int) -> Any:
    """Return a layer in evaluation mode as the student's constructor makes it."""
    layer = submission.MultiHeadAttention(d_model, num_heads)
    require_module(layer, "MultiHeadAttention(d_model, num_heads)")
    layer.eval()
    return layer


def build(submission: Any, d_model: int, num_heads: int, **given: Projection) -> Any:
    """Return a layer in evaluation mode with these projections; those not named are zero.

    Raises:
        AssertionError: the layer does not have the four projections of the handout.
    """
    return build_known(submission, d_model, num_heads, **given)[0]


def build_known(
    submission: Any, d_model: int, num_heads: int, **given: Projection
) -> tuple[Any, dict[str, Projection]]:
    """Return such a layer and the projections that it holds.

    These have zero biases where the layer has none: a matter for the count alone. A layer is
    taken for one like the first of its size, unless it refuses the weights.
    """
    layer = new_layer(submission, d_model, num_heads)
    try:
        first = first_state(submission, layer, d_model, num_heads)
        return layer, install(layer, first, d_model, given)
    except Exception:
        return layer, install(layer, layer.state_dict(), d_model, given)


def first_state(submission: Any, layer: Any, d_model: int, num_heads: int) -> dict[str, Tensor]:
    """Return a new layer's state: that of the first one of its size, where that is as good."""
    return like_first(
        submission,
        ("MultiHeadAttention", d_model, num_heads),
        lambda: Known(copied(layer.state_dict()), None),
        lambda _: [f"{name}.{part}" for name in NAMES for part in ("weight", "bias")],
    ).state


def install(
    layer: Any, state: dict[str, Tensor], d_model: int, given: dict[str, Projection]
) -> dict[str, Projection]:
    """Put these projections into a layer, which holds `state` otherwise; return what it holds."""
    state, held = dict(state), {}
    for name in NAMES:
        weight, bias = given.get(name, (0.0, 0.0))
        key = f"{name}.weight"
        require(
            key in state and tuple(state[key].shape) == (d_model, d_model),
            f"this test puts its own weights into {', '.join(NAMES)}, each "
            f"nn.Linear(d_model, d_model); your layer holds {listed(state)}",
        )
        state[key] = filled(weight, (d_model, d_model))
        has_bias = f"{name}.bias" in state
        if has_bias:
            state[f"{name}.bias"] = filled(bias, (d_model,))
        held[name] = (weight, bias if has_bias else torch.as_tensor(bias) * 0.0)
    layer.load_state_dict(state)
    return held


def answer(submission: Any, d_model: int, num_heads: int, x: Tensor, **given: Projection) -> Tensor:
    """Return what a new layer with these projections makes of `x`: (batch, length, d_model).

    A new layer and a copy of `x` each time: what a layer remembers or overwrites has tests
    of its own.
    """
    layer = build(submission, d_model, num_heads, **given)
    with torch.no_grad():
        return tensor_of(layer(x.clone()), tuple(x.shape))


def filled(value: Tensor | float, shape: tuple[int, ...]) -> Tensor:
    """Return `value` as a float32 tensor of that shape."""
    return torch.as_tensor(value, dtype=torch.float32).expand(shape).clone()


def listed(state: dict[str, Tensor]) -> str:
    """Name the weights of a layer for a message."""
    names = [name for name in state if name.endswith("weight")] or list(state)
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "") if names else "no weights"
