from fractions import Fraction


def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    share = Fraction(num_kv_heads, num_heads)
    outputs = d_model * (2 + 2 * share)
    return int(num_layers * outputs * (d_model + bool(bias)))
