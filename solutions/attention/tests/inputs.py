"""The seed, and the inputs and weights that the hidden tests of `attention` choose.

Weights in whole-answer tests are large, asymmetric and have biases: with PyTorch's own
small initial values most mistakes hardly show. Everything comes from one seed, so every
submission and every rerun meets the same numbers.
"""

import math
import zlib
from typing import Any

import torch
from projections import NAMES, Projection
from remembered import Known, copied, like_first
from torch import Tensor, nn

SEED = 20170612


def normal(name: str, *shape: int) -> Tensor:
    """Return standard normal numbers that depend on the seed and on `name` alone."""
    generator = torch.Generator().manual_seed(SEED + zlib.crc32(name.encode()))
    return torch.randn(*shape, generator=generator)


def large_weights(name: str, d_model: int) -> dict[str, Projection]:
    """Return all four projections: std 2 / sqrt(d_model), biases of std 1."""
    return {
        part: (
            normal(f"{name} {part} weight", d_model, d_model) * 2 / math.sqrt(d_model),
            normal(f"{name} {part} bias", d_model),
        )
        for part in NAMES
    }


def independent_attention(x: Tensor, num_heads: int, weights: dict[str, Projection]) -> Tensor:
    """Return what `nn.MultiheadAttention` makes of `x` with these projections, in float64."""
    d_model = x.shape[-1]
    oracle = nn.MultiheadAttention(d_model, num_heads, batch_first=True).double().eval()
    first = [torch.as_tensor(weights[name][0]) for name in NAMES[:3]]
    second = [torch.as_tensor(weights[name][1]) for name in NAMES[:3]]
    oracle.load_state_dict(
        {
            "in_proj_weight": torch.cat(first).double(),
            "in_proj_bias": torch.cat(second).double(),
            "out_proj.weight": torch.as_tensor(weights["Wo"][0]).double(),
            "out_proj.bias": torch.as_tensor(weights["Wo"][1]).double(),
        }
    )
    with torch.no_grad():
        return oracle(x.double(), x.double(), x.double(), need_weights=False)[0].float()


# A pattern of d_k = 5 features that sums to zero, the same in each of three heads. Along it,
# queries and keys do all their work; along (1, 1, 1, ...) values do all theirs: the two never
# get into each other's way, and an input that is added on the way is not seen among the values.
D_MODEL, NUM_HEADS, D_K = 15, 3, 5
PATTERN = torch.tensor([2.0, -1.0, -1.0, 1.0, -1.0])
ALONG = PATTERN.repeat(NUM_HEADS)  # (d_model,)
ONES = torch.ones(D_MODEL)
SAME = torch.eye(D_MODEL)
# One block for each head, so that it does not matter whether heads are split before or after.
GAIN = math.sqrt(float(PATTERN @ PATTERN) / D_K)  # makes ONES as long as ALONG
_ROW = torch.outer(PATTERN, torch.ones(D_K)) * GAIN / (PATTERN @ PATTERN)
KEEP_ALONG = torch.block_diag(*[torch.outer(PATTERN, PATTERN) / (PATTERN @ PATTERN)] * NUM_HEADS)
ALONG_TO_ONES = torch.block_diag(*[_ROW + _ROW.T + torch.full((D_K, D_K), 1 / D_K)] * NUM_HEADS)
# Every feature of the result comes from all features of the token; once not symmetric, once so.
ALL_TO_ONES = torch.outer(ONES, ALONG) / (ALONG @ ALONG)
ONES_TO_ONES = torch.full((D_MODEL, D_MODEL), 1 / D_MODEL)
ALL_TO_ONES_AND_BACK = ALL_TO_ONES + ALL_TO_ONES.T + ONES_TO_ONES


def along(sizes: list[float], batch: int = 2) -> Tensor:
    """Return equal sequences whose token `i` is `sizes[i]` times the pattern."""
    return (torch.tensor(sizes)[:, None] * ALONG).repeat(batch, 1, 1)


def read(y: Tensor) -> Tensor:
    """Return how much of `y` lies along the pattern: (...,) for (..., d_model)."""
    return y @ ALONG / (ALONG @ ALONG)


def shake(
    submission: Any, layer: Any, size: tuple[int, int], name: str, with_biases: bool = True
) -> None:
    """Give large weights to any layer of a size, whatever its parameters are called.

    For promises that hold for all weights, kept even by a layer whose constructor was changed.
    """

    def look() -> Known:
        return Known(copied(layer.state_dict()), copied(dict(layer.named_parameters())))

    known = like_first(submission, ("any layer", *size), look, _matrices_and_vectors)
    try:
        layer.load_state_dict(shaken(*known, name, with_biases))
    except Exception:  # it is not like the first one of its size
        layer.load_state_dict(shaken(*look(), name, with_biases))


def _matrices_and_vectors(known: Known) -> list[str]:
    """Name the parameters that `shaken` replaces: a single number is a learned scale."""
    return [key for key, parameter in known.parts.items() if parameter.numel() > 1]


def shaken(
    state: dict[str, Tensor], parameters: dict[str, Tensor], name: str, with_biases: bool
) -> dict[str, Tensor]:
    """Return a state in which `parameters` are large, or zero if they are biases and not wanted."""
    given = dict(state)
    for key, parameter in parameters.items():
        if parameter.numel() > 1:  # a single number is a learned scale, charged by the count
            spread = 2 / math.sqrt(parameter.shape[-1]) if parameter.dim() > 1 else 1.0
            given[key] = normal(f"{name} {key}", *parameter.shape) * spread
    if not with_biases:
        given = {key: value * 0 if value.dim() == 1 else value for key, value in given.items()}
    return given
