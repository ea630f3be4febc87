import torch
import torch.nn as nn
import torch.nn.functional as F


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
        N, L, D = x.shape
        Q = self.Wq(x).reshape(N, L, self.h, self.d_k).swapaxes(1, 2)
        K = self.Wk(x).reshape(N, L, self.h, self.d_k).swapaxes(1, 2)
        V = self.Wv(x).reshape(N, L, self.h, self.d_k).swapaxes(1, 2)
        energy = torch.matmul(Q, K.permute(0, 1, 3, 2)) / torch.sqrt(torch.tensor(self.d_k, dtype=torch.float32))
        probs = F.log_softmax(energy, dim=-1).exp()
        z = torch.matmul(probs, V).swapaxes(1, 2).reshape(N, L, D)
        return self.Wo(z)
