import torch


def relative_offset(k: int, d_model: int) -> torch.Tensor:
    freqs = 10000 ** (-torch.arange(0, d_model, 2) / d_model)
    theta = k * freqs
    blocks = [torch.tensor([[t.cos(), t.sin()], [-t.sin(), t.cos()]]) for t in theta]
    return torch.block_diag(*blocks)
