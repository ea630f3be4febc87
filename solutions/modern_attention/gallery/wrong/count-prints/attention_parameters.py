def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    d_kv = num_kv_heads * d_model // num_heads
    n = num_layers * (2 * d_model * d_model + 2 * d_model * d_kv + bias * (2 * d_model + 2 * d_kv))
    print(n)
