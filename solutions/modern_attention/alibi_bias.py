"""Attention with linear biases (ALiBi): the further away a key, the less it counts."""

import math

import torch


def alibi_bias(num_heads: int, length: int) -> torch.Tensor:
    """Tabulate what is added to the scores of each head, before softmax.

    For the token at position `i` and an earlier or equal position `j`:

        bias[head, i, j] = -slope[head] * (i - j)        for j <= i

    What stands above the diagonal (j > i) is up to you, since the causal mask that ALiBi is
    made for hides it: zeros, the line continued, its mirror image or -inf are all right.

    Slopes, head 0 first. For a power of two they are a geometric sequence that starts at its own
    ratio and ends at 2^-8: for `n` heads,

        slope[head] = 2^(-8 (head + 1) / n)              1/2, 1/4, ..., 1/256 for n = 8

    For any other number of heads let `n` be the next lower power of two. First come all slopes
    for `n` heads; then, for the heads that are left, every second slope for `2 n` heads, from
    the first one on.

    Not done here: no scores, no softmax; nothing is learned.

    Args:
        num_heads: number of heads, at least 1, a power of two or not.
        length: number of tokens, at least 1.

    Returns:
        (num_heads, length, length), float32: axes head, query `i`, key `j`.

    Raises:
        Nothing of its own.

    Source: Press, Smith and Lewis (2022), "Train Short, Test Long: Attention with Linear Biases
    Enables Input Length Extrapolation", section 3; other numbers of heads as in its code.
    """
    # BEGIN SOLUTION
    n = 2 ** int(math.log2(num_heads))
    slopes = [2.0 ** (-8 * (head + 1) / n) for head in range(n)]
    finer = [2.0 ** (-8 * (head + 1) / (2 * n)) for head in range(2 * n)]
    slopes += finer[0::2][: num_heads - n]
    place = torch.arange(length)
    distance = (place[:, None] - place).clamp(min=0)  # (length, length): query minus key
    return -torch.tensor(slopes)[:, None, None] * distance  # (num_heads, length, length)
    # END SOLUTION
