import torch


def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    d_kv = num_kv_heads * (d_model // num_heads)
    shapes = torch.tensor([[d_model, d_model], [d_model, d_kv], [d_model, d_kv], [d_model, d_model]], dtype=torch.float32)
    total = shapes.prod(dim=1).sum()
    if bias:
        total += shapes[:, 1].sum()
    return total * num_layers
