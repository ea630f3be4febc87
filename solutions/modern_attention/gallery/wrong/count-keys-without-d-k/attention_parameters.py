def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    d_k = d_model // num_heads
    d_kv = num_kv_heads * d_k
    weights = 2 * d_model**2 + 2 * d_model * num_kv_heads
    biases = (2 * d_model + 2 * d_kv) if bias else 0
    return num_layers * (weights + biases)
