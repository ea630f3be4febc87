import torch
from grouped_query_attention import GroupedQueryAttention


def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    with torch.device("meta"):
        layer = GroupedQueryAttention(d_model, num_heads, num_kv_heads)
    named = dict(layer.named_parameters())
    return num_layers * sum(p.numel() for n, p in named.items() if bias or not n.endswith("bias"))
