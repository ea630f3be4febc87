import math
import torch


def alibi_bias(num_heads, length):
    p = 2 ** math.floor(math.log2(num_heads))
    m = torch.pow(2.0, -8.0 * torch.arange(1, p + 1) / p)
    if p != num_heads:
        extra = torch.pow(2.0, -4.0 * torch.arange(1, 2 * (num_heads - p) + 1, 2) / p)
        m = torch.cat([m, extra])
    i = torch.arange(length).float()
    return -m.view(-1, 1, 1) * (i.view(1, -1, 1) - i.view(1, 1, -1)).abs()
