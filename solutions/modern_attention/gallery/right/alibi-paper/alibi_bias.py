import math
import torch


def get_slopes(n):
    def get_slopes_power_of_2(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        ratio = start
        return [start * ratio**i for i in range(n)]

    if math.log2(n).is_integer():
        return get_slopes_power_of_2(n)
    closest = 2 ** math.floor(math.log2(n))
    return get_slopes_power_of_2(closest) + get_slopes(2 * closest)[0::2][: n - closest]


def alibi_bias(num_heads, length):
    slopes = torch.tensor(get_slopes(num_heads))
    pos = torch.arange(length)
    bias = slopes[:, None, None] * (pos[None, :] - pos[:, None])
    return bias.masked_fill(torch.ones(length, length).triu(1).bool(), float("-inf"))
