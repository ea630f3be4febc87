import math

from torch import nn


class ScaleDotProductAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax()

    def forward(self, q, k, v):
        d_tensor = q.size(-1)
        score = (q @ k.transpose(2, 3)) / math.sqrt(d_tensor)
        score = self.softmax(score)
        return score @ v


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
        self.attention = ScaleDotProductAttention()

    def split(self, tensor):
        b, l, d = tensor.size()
        return tensor.view(b, l, self.h, self.d_k).transpose(1, 2)

    def concat(self, tensor):
        b, h, l, d = tensor.size()
        return tensor.transpose(1, 2).contiguous().view(b, l, h * d)

    def forward(self, x):
        q, k, v = self.split(self.Wq(x)), self.split(self.Wk(x)), self.split(self.Wv(x))
        return self.Wo(self.concat(self.attention(q, k, v)))
