import torch


def slopes_for(n):
    first = 2.0 ** (-8.0 / n)
    out = [first]
    while len(out) < n:
        out.append(out[-1] * first)
    return out


def alibi_bias(num_heads, length):
    n = 1
    while 2 * n <= num_heads:
        n = 2 * n
    m = slopes_for(n)
    if n < num_heads:
        m = m + slopes_for(2 * n)[: 2 * (num_heads - n) : 2]
    m = torch.FloatTensor(m).reshape(num_heads, 1, 1)
    steps = torch.arange(1 - length, 1).expand(length, length).clone()
    for i in range(length):
        steps[i] = torch.arange(length) - i
    mask = torch.full((length, length), -torch.inf).triu(1)
    return m * steps + mask
