import math
import torch

torch.manual_seed(0)
torch.set_printoptions(precision=2)


def alibi_bias(num_heads, length):
    """ALiBi."""
    def m(n): return [2 ** (-8 * (i + 1) / n) for i in range(n)]
    n = 2 ** math.floor(math.log2(num_heads))
    s = torch.tensor(m(n) + m(2 * n)[::2][:num_heads - n])
    d = torch.arange(length).unsqueeze(1) - torch.arange(length).unsqueeze(0)
    print(d.shape)
    return -s.reshape(-1, 1, 1) * d.tril()


if __name__ == "__main__":
    import matplotlib.pyplot as plt
    plt.imshow(alibi_bias(1, 8)[0])
