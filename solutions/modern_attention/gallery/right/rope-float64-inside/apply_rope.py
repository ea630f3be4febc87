import torch


def apply_rope(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    dtype = x.dtype
    x = x.double()
    d_k = x.shape[-1]
    exponent = torch.arange(d_k // 2, dtype=torch.float64) * 2 / d_k
    theta = positions.double().unsqueeze(-1) / torch.pow(torch.tensor(base, dtype=torch.float64), exponent)
    a, b = x.unflatten(-1, (d_k // 2, 2)).unbind(-1)
    cos, sin = theta.cos(), theta.sin()
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2).to(dtype)
