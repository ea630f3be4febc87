import torch


def encoding_at(pos, d_model):
    i = torch.arange(0, d_model, 2, dtype=torch.float32)
    angle = pos / torch.pow(10000.0, i / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=1).reshape(-1)


def relative_offset(k, d_model):
    row = encoding_at(k, d_model)
    M = torch.zeros((d_model, d_model))
    for r in range(d_model):
        pair = r - r % 2
        s, c = row[pair], row[pair + 1]
        M[r, pair] = c if r % 2 == 0 else -s
        M[r, pair + 1] = s if r % 2 == 0 else c
    return M
