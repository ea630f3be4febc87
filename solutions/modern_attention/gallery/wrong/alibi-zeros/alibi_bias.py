import torch


def alibi_bias(num_heads, length):
    return torch.zeros(num_heads, length, length)
