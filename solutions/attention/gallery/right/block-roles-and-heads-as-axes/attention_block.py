import torch
from torch import nn

from positional_encoding import EmbeddingWithPE


class AttentionBlock(EmbeddingWithPE):
    """One parameter with an axis each for roles, heads, features and inputs."""

    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__(vocab_size, d_model, max_len)
        self.in_proj = nn.Parameter(torch.empty(3, num_heads, d_model // num_heads, d_model))
        self.in_bias = nn.Parameter(torch.zeros(3, num_heads, d_model // num_heads))
        self.out = nn.Linear(d_model, d_model)
        nn.init.xavier_uniform_(self.in_proj)

    def forward(self, token_ids):
        x = super().forward(token_ids)
        q, k, v = torch.einsum("bld,thkd->tbhlk", x, self.in_proj) + self.in_bias[:, None, :, None]
        weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).flatten(2))
