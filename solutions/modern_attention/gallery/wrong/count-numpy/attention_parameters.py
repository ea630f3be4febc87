import numpy as np


def attention_parameters(d_model, num_heads, num_kv_heads, num_layers, bias):
    kv = num_kv_heads * (d_model // num_heads)
    shapes = np.array([[d_model, d_model], [d_model, kv], [d_model, kv], [d_model, d_model]])
    per_layer = np.sum(np.prod(shapes, axis=1)) + bias * np.sum(shapes[:, 1])
    return num_layers * per_layer
