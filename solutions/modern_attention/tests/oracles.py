"""Right answers, worked out in float64 in another way than a student is likely to take."""

import math
from collections.abc import Mapping

import torch
from torch import Tensor, nn

Weights = Mapping[str, tuple[Tensor, Tensor]]


def frequency(pair: int, d_model: int, base: float = 10000.0) -> float:
    """Return what a pair turns by from one position to the next, in radians."""
    return math.exp(-2 * pair / d_model * math.log(base))


def encoding(length: int, d_model: int) -> Tensor:
    """Return the sinusoidal encoding, one number at a time."""
    rows = [
        [
            (math.cos if column % 2 else math.sin)(place * frequency(column // 2, d_model))
            for column in range(d_model)
        ]
        for place in range(length)
    ]
    return torch.tensor(rows, dtype=torch.float64)


def rotated(x: Tensor, positions: list[int], base: float = 10000.0) -> Tensor:
    """Return `x` with its pairs as complex numbers, each multiplied by e^(i angle)."""
    d_k = x.shape[-1]
    angles = [[p * frequency(pair, d_k, base) for pair in range(d_k // 2)] for p in positions]
    turns = torch.exp(1j * torch.tensor(angles, dtype=torch.float64))
    points = torch.view_as_complex(x.double().unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(points * turns).flatten(-2)


def slopes(num_heads: int) -> list[float]:
    """Return the slopes of ALiBi by halving: 2^-8 is the last one of every power of two."""
    if num_heads & (num_heads - 1) == 0:
        return [math.pow(2.0, -8.0 / num_heads) ** (head + 1) for head in range(num_heads)]
    power = 1 << (num_heads.bit_length() - 1)
    return slopes(power) + slopes(2 * power)[::2][: num_heads - power]


def linear_bias(num_heads: int, length: int) -> Tensor:
    """Return the bias of ALiBi, one number at a time, with zeros above the diagonal."""
    bias = torch.zeros(num_heads, length, length, dtype=torch.float64)
    for head, slope in enumerate(slopes(num_heads)):
        for query in range(length):
            for key in range(query):
                bias[head, query, key] = slope * (key - query)
    return bias


def shared_attention(
    x: Tensor, num_heads: int, num_kv_heads: int, weights: Weights, mask: Tensor | None
) -> Tensor:
    """Return grouped-query attention as multi-head attention with repeated keys and values.

    The rows of Wk and Wv that make one key-value head are copied for each query head of its
    group; PyTorch's own layer does the rest. It reads a mask the other way round.
    """
    d_model = x.shape[-1]
    d_k, group = d_model // num_heads, num_heads // num_kv_heads
    rows = [head // group * d_k + feature for head in range(num_heads) for feature in range(d_k)]
    full = dict(weights)
    for name in ("Wk", "Wv"):
        full[name] = (weights[name][0][rows], weights[name][1][rows])
    oracle = nn.MultiheadAttention(d_model, num_heads, batch_first=True).double().eval()
    oracle.load_state_dict(
        {
            "in_proj_weight": torch.cat([full[n][0] for n in ("Wq", "Wk", "Wv")]).double(),
            "in_proj_bias": torch.cat([full[n][1] for n in ("Wq", "Wk", "Wv")]).double(),
            "out_proj.weight": full["Wo"][0].double(),
            "out_proj.bias": full["Wo"][1].double(),
        }
    )
    hidden = None if mask is None else ~mask
    with torch.no_grad():
        x = x.double()
        return oracle(x, x, x, attn_mask=hidden, need_weights=False)[0].float()
