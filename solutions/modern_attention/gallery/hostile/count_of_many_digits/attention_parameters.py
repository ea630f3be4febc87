def attention_parameters(*sizes):
    return 10**5000
