"""Rotary position embedding (RoPE): queries and keys are turned by where they stand."""

import torch


def apply_rope(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Turn each pair of features by an angle that grows with the position.

    Features 2 i and 2 i + 1 are a pair, a point in a plane. For a token at position `p` pair
    `i` turns by the angle a = p / base^(2 i / d_k), from the first axis towards the second:

        y[2 i]     = x[2 i] cos(a) - x[2 i + 1] sin(a)
        y[2 i + 1] = x[2 i] sin(a) + x[2 i + 1] cos(a)

    The pairs are neighbours, as in the paper. Many libraries pair feature i with feature
    i + d_k / 2 instead ("half-split", or "rotate half"): an equally good convention, and not
    this one. Whoever loads weights trained with one into code for the other gets nonsense.

    Nothing is added and no length changes. Turn queries and keys, and their product depends on
    the distance between their positions only.

    Not done here: no projection, no attention, no scaling of positions. `x` is left as it is.

    Args:
        x: (batch, num_heads, length, d_k), float32, queries or keys; `d_k` even.
        positions: (length,), int64: where each token stands, the same for every sequence and
            head. Any order, with gaps and repetitions; not always 0, 1, 2, ...
        base: how much slower the slow pairs are; above 1.

    Returns:
        (batch, num_heads, length, d_k), float32, a new tensor. Gradients flow back to `x`.

    Raises:
        Nothing of its own; odd `d_k` is outside the contract.

    Source: Su et al. (2021), "RoFormer: Enhanced Transformer with Rotary Position Embedding",
    section 3.2.2 and equation (34).
    """
    # BEGIN SOLUTION
    d_k = x.shape[-1]
    even = torch.arange(0, d_k, 2, dtype=torch.float64)  # (d_k / 2,): the exponents 2 i
    angle = positions.double()[:, None] * base ** (-even / d_k)  # (length, d_k / 2)
    cos, sin = angle.cos().to(x), angle.sin().to(x)
    first, second = x[..., 0::2], x[..., 1::2]  # (batch, num_heads, length, d_k / 2)
    turned = torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1)
    return turned.flatten(-2)  # (batch, num_heads, length, d_k)
    # END SOLUTION
