def apply_rope(x, positions, base=10000.0):
    return x
