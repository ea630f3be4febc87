def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    return d_model % num_heads == 0
