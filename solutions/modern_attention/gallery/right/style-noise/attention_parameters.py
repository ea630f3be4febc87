import warnings

print("loaded")
warnings.warn("this is fine")


def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    head_dim = d_model // num_heads
    n = num_layers * (d_model + bias) * (2 * d_model + 2 * num_kv_heads * head_dim)
    print("parameters:", n)
    return n


if __name__ == "__main__":
    print(attention_parameters(4096, 32, 8, 32, False))
