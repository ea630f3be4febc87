def attention_parameters(d_model: int, num_heads: int, num_kv_heads: int, num_layers: int, bias: bool = True) -> int:
    """Count."""
    count = 0
    per_head = d_model // num_heads
    for _layer in range(num_layers):
        for heads in (num_heads, num_kv_heads, num_kv_heads):
            count += heads * per_head * d_model
            count += heads * per_head * int(bias)
        count += d_model * d_model + int(bias) * d_model
    return count
