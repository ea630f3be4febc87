import math
import torch


def apply_rope(x, positions, base=10000.0):
    d = x.size(-1)
    columns = []
    for i in range(d // 2):
        first, second = [], []
        for t in range(x.size(2)):
            a = float(positions[t]) / base ** (2 * i / d)
            u, v = x[:, :, t, 2 * i], x[:, :, t, 2 * i + 1]
            first.append(u * math.cos(a) - v * math.sin(a))
            second.append(u * math.sin(a) + v * math.cos(a))
        columns += [torch.stack(first, dim=-1), torch.stack(second, dim=-1)]
    return torch.stack(columns, dim=-1)
