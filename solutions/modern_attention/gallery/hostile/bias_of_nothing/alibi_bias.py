import torch


def alibi_bias(num_heads, length):
    bias = torch.full((num_heads, length, length), float("nan"))
    bias.diagonal(dim1=1, dim2=2).fill_(float("-inf"))
    return bias
