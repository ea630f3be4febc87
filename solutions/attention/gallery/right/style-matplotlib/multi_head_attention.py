import math

import matplotlib.pyplot as plt
import torch
import torch.nn as nn

plt.rcParams["figure.figsize"] = (4, 3)


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
        self.last = None

    def forward(self, x):
        B, L, D = x.shape
        q = self.Wq(x).view(B, L, self.h, self.d_k).permute(0, 2, 1, 3)
        k = self.Wk(x).view(B, L, self.h, self.d_k).permute(0, 2, 3, 1)
        v = self.Wv(x).view(B, L, self.h, self.d_k).permute(0, 2, 1, 3)
        self.last = torch.softmax(q @ k / math.sqrt(self.d_k), dim=-1)
        return self.Wo((self.last @ v).permute(0, 2, 1, 3).reshape(B, L, D))

    def plot(self):
        plt.imshow(self.last[0, 0].detach())
        plt.show()
