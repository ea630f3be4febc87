import math
import torch


def rotation(position, d, base):
    blocks = []
    for i in range(d // 2):
        a = position * base ** (-2 * (i + 1 - 1) / d)
        blocks.append(torch.tensor([[math.cos(a), -math.sin(a)], [math.sin(a), math.cos(a)]]))
    return torch.block_diag(*blocks)


def apply_rope(x, positions, base=10000.0):
    R = torch.stack([rotation(p.item(), x.shape[-1], base) for p in positions])
    return (R @ x.unsqueeze(-1)).squeeze(-1)
