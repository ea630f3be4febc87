import math
import torch
import torch.nn as nn
from positional_encoding import EmbeddingWithPE


class AttentionBlock(nn.Module):
    def __init__(self, vocab_size, d_model, num_heads, max_len=512):
        super().__init__()
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.embed = EmbeddingWithPE(vocab_size, d_model, max_len)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.q_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def forward(self, token_ids):
        h = self.embed(token_ids)
        b, t, d = h.shape
        shape = (b, t, self.num_heads, self.head_dim)
        q = self.q_proj(h).view(shape).transpose(1, 2)
        k = self.k_proj(h).view(shape).transpose(1, 2)
        v = self.v_proj(h).view(shape).transpose(1, 2)
        a = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(self.head_dim), dim=-1)
        return self.out_proj((a @ v).transpose(1, 2).reshape(b, t, d))
