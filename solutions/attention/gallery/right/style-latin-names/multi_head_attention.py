import torch
from torch import nn


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
        greges, longitudo, latitudo = x.shape

        def divide(tensor):
            return tensor.view(greges, longitudo, self.h, self.d_k).transpose(1, 2)

        quaestiones = divide(self.Wq(x))
        claves = divide(self.Wk(x))
        pretia = divide(self.Wv(x))
        radix = self.d_k ** 0.5
        pondera = torch.softmax(quaestiones @ claves.transpose(-2, -1) / radix, dim=-1)
        summa = pondera @ pretia
        return self.Wo(summa.transpose(1, 2).reshape(greges, longitudo, latitudo))
