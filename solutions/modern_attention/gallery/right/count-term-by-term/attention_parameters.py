def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    d_k = d_model // num_heads
    q = d_model * d_model
    k = d_model * num_kv_heads * d_k
    v = d_model * num_kv_heads * d_k
    o = d_model * d_model
    total = q + k + v + o
    if bias:
        total += d_model + num_kv_heads * d_k + num_kv_heads * d_k + d_model
    return total * num_layers
