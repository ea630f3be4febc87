import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError("d_model must be divisible by num_heads")
        self.attn = nn.MultiheadAttention(d_model, num_heads)

    def forward(self, x):
        return self.attn(x, x, x)[0]
