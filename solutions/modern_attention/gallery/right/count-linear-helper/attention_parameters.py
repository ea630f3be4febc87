def linear(n_in, n_out, bias):
    return n_out * (n_in + (1 if bias else 0))


def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    kv = num_kv_heads * (d_model // num_heads)
    return num_layers * sum(linear(*shape, bias) for shape in [(d_model, d_model), (d_model, kv), (d_model, kv), (d_model, d_model)])
