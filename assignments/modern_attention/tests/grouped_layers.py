"""Builds a student's grouped-query attention with weights that a test has chosen.

Tests never compare anything on random initial weights: they put their own into `Wq`, `Wk`,
`Wv` and `Wo`, chosen so that one property of the layer shows and nothing else does.
"""

from typing import Any, NamedTuple

import torch
from comparison import require, require_module, tensor_of
from torch import Tensor

NAMES = ("Wq", "Wk", "Wv", "Wo")

Projection = tuple[Tensor | float, Tensor | float]
"""Weight and bias, as in nn.Linear; a number stands for a whole tensor of it."""


class Sizes(NamedTuple):
    """The arguments of GroupedQueryAttention."""

    d_model: int
    num_heads: int
    num_kv_heads: int

    @property
    def d_k(self) -> int:
        """Features of one head."""
        return self.d_model // self.num_heads

    @property
    def d_kv(self) -> int:
        """Features of all keys, and of all values."""
        return self.num_kv_heads * self.d_k

    def shape(self, name: str) -> tuple[int, int]:
        """Return the shape of a projection's weight."""
        return (self.d_kv if name in ("Wk", "Wv") else self.d_model, self.d_model)


def new_layer(submission: Any, sizes: Sizes) -> Any:
    """Return a layer in evaluation mode as the student's constructor makes it."""
    layer = submission.GroupedQueryAttention(*sizes)
    require_module(layer, f"GroupedQueryAttention{tuple(sizes)}")
    layer.eval()
    return layer


def build(submission: Any, sizes: Sizes, **given: Projection) -> Any:
    """Return a layer in evaluation mode with these projections; those not named are zero.

    Raises:
        AssertionError: the layer does not have the four projections of the handout.
    """
    layer = new_layer(submission, sizes)
    state = dict(layer.state_dict())
    for name in NAMES:
        weight, bias = given.get(name, (0.0, 0.0))
        key, shape = f"{name}.weight", sizes.shape(name)
        require(
            key in state and tuple(state[key].shape) == shape,
            f"this test puts its own weights into {', '.join(NAMES)} as they were given, "
            f"but there is no {name} of shape {shape} in your layer",
        )
        state[key] = torch.as_tensor(weight, dtype=torch.float32).expand(shape).clone()
        if f"{name}.bias" in state:
            value = torch.as_tensor(bias, dtype=torch.float32)
            state[f"{name}.bias"] = value.expand(shape[0]).clone()
    layer.load_state_dict(state)
    return layer


def run(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the answer to copies of `x` and `mask`, without gradients."""
    with torch.no_grad():
        return ask(layer, x.clone(), None if mask is None else mask.clone())


def ask(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return the answer to `x` and `mask`.

    A `forward` that demands a mask is charged by the test about form, one that takes none by
    those about masks.
    """
    masks = () if mask is None else (mask,)
    try:
        result = layer(x, *masks)
    except TypeError:
        result = layer(x) if masks else layer(x, None)
    return tensor_of(result, tuple(x.shape))


def usual_sizes(submission: Any) -> Sizes:
    """Return Sizes(20, 4, 2), or Sizes(20, 4, 4) for a layer that cannot share heads.

    What it cannot do is charged by the tests about shapes and groups.
    """
    sizes = Sizes(20, 4, 2)
    try:
        run(new_layer(submission, sizes), waves(2, 3, 20))
    except NotImplementedError:
        raise
    except Exception:
        return Sizes(20, 4, 4)
    return sizes


def causal(length: int) -> Tensor:
    """Return the mask in which a token may look at itself and what came before it."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def waves(*shape: int, step: float = 1.9) -> Tensor:
    """Return numbers between -1 and 1 without a pattern."""
    return (torch.arange(float(torch.Size(shape).numel())) * step + 0.3).sin().reshape(shape)


def movements(layer: Any, x: Tensor, mask: Tensor | None = None) -> Tensor:
    """Return how far the answer of each token moves when one token is exchanged.

    `x` is one sequence (length, d_model). Returns (length of answers, length of exchanged).
    """
    length = len(x)
    changed = x.repeat(length + 1, 1, 1)
    for token in range(length):
        changed[token + 1, token] += waves(x.shape[-1], step=2.7) + 0.5
    y = run(layer, changed, mask)
    return (y[1:] - y[0]).abs().amax(-1).T
