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
        return nn.functional.multi_head_attention_forward(
            x.transpose(0, 1), x.transpose(0, 1), x.transpose(0, 1), self.h * self.d_k, self.h,
            torch.cat([self.Wq.weight, self.Wk.weight, self.Wv.weight]),
            torch.cat([self.Wq.bias, self.Wk.bias, self.Wv.bias]),
            None, None, False, 0.0, self.Wo.weight, self.Wo.bias, need_weights=False,
        )[0].transpose(0, 1)
