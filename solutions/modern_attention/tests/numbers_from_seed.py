"""The seed of the hidden tests of `modern_attention`, and the numbers that come from it."""

import zlib

import torch
from torch import Tensor

SEED = 20210420


def normal(name: str, *shape: int) -> Tensor:
    """Return standard normal numbers that depend on the seed and on `name` alone."""
    generator = torch.Generator().manual_seed(SEED + zlib.crc32(name.encode()))
    return torch.randn(*shape, generator=generator)
