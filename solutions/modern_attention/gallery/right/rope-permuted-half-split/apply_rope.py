import torch


def rotate_half(x):
    x1, x2 = x.chunk(2, dim=-1)
    return torch.cat((-x2, x1), dim=-1)


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    order = torch.cat([torch.arange(0, d, 2), torch.arange(1, d, 2)])
    back = torch.argsort(order)
    inv_freq = 1.0 / base ** (torch.arange(0, d, 2, dtype=torch.float) / d)
    freqs = torch.outer(positions.to(torch.float), inv_freq)
    emb = torch.cat((freqs, freqs), dim=-1)
    halves = x[..., order]
    halves = halves * emb.cos() + rotate_half(halves) * emb.sin()
    return halves[..., back]
