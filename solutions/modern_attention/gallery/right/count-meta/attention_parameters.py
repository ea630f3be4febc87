import torch
from torch import nn


def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    d_kv = d_model // num_heads * num_kv_heads
    with torch.device("meta"):
        layer = nn.ModuleList([
            nn.Linear(d_model, d_model, bias=bias),
            nn.Linear(d_model, d_kv, bias=bias),
            nn.Linear(d_model, d_kv, bias=bias),
            nn.Linear(d_model, d_model, bias=bias),
        ])
    return num_layers * sum(p.numel() for p in layer.parameters())
