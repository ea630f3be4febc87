import torch
import torch.nn as nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model = {d_model} cannot be split into {num_heads} equal heads")
        self.h = num_heads
        self.d_k = d_model // num_heads
        self.Wq = nn.Linear(d_model, d_model)
        self.Wk = nn.Linear(d_model, d_model)
        self.Wv = nn.Linear(d_model, d_model)
        self.Wo = nn.Linear(d_model, d_model)

    def forward(self, x):
        layer = nn.TransformerEncoderLayer(self.h * self.d_k, self.h, batch_first=True, dropout=0.0)
        inner = layer.self_attn
        del inner.in_proj_weight, inner.in_proj_bias, inner.out_proj.weight, inner.out_proj.bias
        inner.in_proj_weight = torch.cat([self.Wq.weight, self.Wk.weight, self.Wv.weight])
        inner.in_proj_bias = torch.cat([self.Wq.bias, self.Wk.bias, self.Wv.bias])
        inner.out_proj.weight, inner.out_proj.bias = self.Wo.weight, self.Wo.bias
        return inner(x, x, x)[0]
