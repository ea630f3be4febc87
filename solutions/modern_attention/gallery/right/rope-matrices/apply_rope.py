import torch


def apply_rope(x, positions, base=10000.0):
    d = x.shape[-1]
    freq = torch.exp(torch.arange(0, d, 2, dtype=torch.float32) * (-torch.log(torch.tensor(float(base))) / d))
    a = positions[:, None] * freq[None, :]
    R = torch.stack([torch.stack([a.cos(), -a.sin()], -1), torch.stack([a.sin(), a.cos()], -1)], -2)
    pairs = x.reshape(*x.shape[:-1], d // 2, 2)
    return torch.einsum("lpij,bhlpj->bhlpi", R, pairs).reshape(x.shape)
