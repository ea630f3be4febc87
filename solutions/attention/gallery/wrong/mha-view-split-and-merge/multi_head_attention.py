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

    def split(self, tensor):
        batch_size, length, d_model = tensor.size()
        d_tensor = d_model // self.h
        return tensor.view(batch_size, self.h, length, d_tensor)

    def concat(self, tensor):
        batch_size, head, length, d_tensor = tensor.size()
        return tensor.view(batch_size, length, head * d_tensor)

    def forward(self, x):
        q, k, v = self.split(self.Wq(x)), self.split(self.Wk(x)), self.split(self.Wv(x))
        score = (q @ k.transpose(2, 3)) / self.d_k ** 0.5
        out = torch.softmax(score, dim=-1) @ v
        return self.Wo(self.concat(out))
