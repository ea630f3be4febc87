import math
import torch


def alibi_bias(num_heads, length):
    closest = 2 ** int(math.floor(math.log2(num_heads)))
    base = torch.tensor(2.0 ** (-(2.0 ** -(math.log2(closest) - 3))))
    slopes = torch.pow(base, torch.arange(1, 1 + closest))
    if closest != num_heads:
        extra_base = torch.tensor(2.0 ** (-(2.0 ** -(math.log2(2 * closest) - 3))))
        extra = torch.pow(extra_base, torch.arange(1, 1 + 2 * (num_heads - closest), 2))
        slopes = torch.cat([slopes, extra], dim=0)
    steps = torch.ones(length, length).tril(-1).cumsum(0)
    return -slopes.unsqueeze(1).unsqueeze(1) * steps.expand(num_heads, length, length)
