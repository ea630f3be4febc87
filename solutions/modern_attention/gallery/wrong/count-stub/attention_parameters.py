import torch


def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    raise NotImplementedError("modern_attention / attention_parameters")
