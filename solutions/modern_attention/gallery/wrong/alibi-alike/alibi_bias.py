import torch


def alibi_bias(num_heads, length):
    place = torch.arange(length).float()
    return (place[None, :] - place[:, None]).repeat(num_heads, 1, 1)
