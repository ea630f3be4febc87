import torch
import torch.nn as nn


@torch.jit.script
def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    scores = torch.matmul(q, k.transpose(-2, -1)) / float(q.size(-1)) ** 0.5
    return torch.matmul(torch.softmax(scores, dim=-1), v)


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
        b, n, d = x.shape
        q = self.Wq(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        k = self.Wk(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        v = self.Wv(x).view(b, n, self.h, self.d_k).transpose(1, 2)
        return self.Wo(attend(q, k, v).transpose(1, 2).reshape(b, n, d))
