"""The pictures of `python check.py --plots`. Look at how they are made, or draw your own."""

import math

import torch
from answers import bias_of, turned
from comparison import tensor_of
from grouped_layers import Sizes, build, causal, run

D_K, LENGTH = 32, 64
DIVERGING, SEQUENTIAL = "RdBu_r", "Blues"


def draw_offset(figure, submission):
    """Your matrix, and where it takes the encoding

    Left: relative_offset(3, 16). Blocks of two by two along the diagonal, nothing elsewhere; the
    last blocks are nearly the identity, since slow pairs hardly turn. Right: two features of
    the encoding over the positions as lines, and what your matrix makes of the position three
    before as dots. Where a dot is off its line, that row of the matrix is wrong.
    """
    k, d_model, rows = 3, 16, 40
    left, right = figure.subplots(1, 2)
    matrix = submission.relative_offset(k, d_model)
    matrix = tensor_of(matrix, (d_model, d_model), "your matrix").detach()
    left.imshow(matrix, cmap=DIVERGING, vmin=-1, vmax=1)
    left.set(xlabel="from feature", ylabel="to feature", title="relative_offset(3, 16), yours")
    place = torch.arange(float(rows))
    angles = place[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    table = torch.stack((angles.sin(), angles.cos()), -1).flatten(1)  # (rows, d_model)
    arrived = table[:-k] @ matrix.T
    for feature, colour in ((0, "C0"), (5, "C1")):
        right.plot(table[:, feature], color=colour, label=f"feature {feature}")
        right.plot(place[k:], arrived[:, feature], ".", color=colour)
    right.set(xlabel="position", ylim=(-1.4, 1.4))
    right.legend(loc="lower right")
    gap = float((arrived - table[k:]).abs().max())
    return [f"The dots are off their lines by up to {gap:.1e}."]


def draw_scores(figure, submission):
    """Scores of one query and one key, turned by where they stand

    The same query and the same key at all pairs of positions. With a right rotary embedding the
    score depends on the distance alone, so the picture has stripes along its diagonal. Pairs
    that are half-split show the same stripes: only a test can tell the two conventions apart.
    """
    torch.manual_seed(3)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    query = torch.randn(D_K) + 1
    token = query.expand(1, 1, LENGTH, D_K)
    places = list(range(LENGTH))
    turned_tokens = turned(submission, token, places)[0, 0]
    scores = turned_tokens @ turned_tokens.T / math.sqrt(D_K)
    left.imshow(scores, cmap=DIVERGING)
    left.set(xlabel="position of the key", ylabel="position of the query", title="scores, yours")
    for start in (0, 20, 40):
        right.plot(scores[start, start : start + 24], label=f"key at {start}")
    right.set(xlabel="distance", title="by distance: three lines in one place")
    right.legend()
    lines = [scores[start, start : start + 24] for start in (0, 20, 40)]
    gap = max(float((line - lines[0]).abs().max()) for line in lines)
    return [f"At equal distances scores differ by up to {gap:.1e}."]


def draw_bias(figure, submission):
    """What each head thinks of distance

    Left: the weights that the last of 48 tokens gives to those before it when all scores are
    equal, so that your bias alone decides. Steep heads see only their neighbours, flat ones nearly
    everything; every line falls towards the left. Right: the bias of head 0.
    """
    left, right = figure.subplots(1, 2)
    bias = bias_of(submission, 6, 48)
    for head in range(6):
        left.plot(bias[head, -1].softmax(-1), label=f"head {head}")
    left.set(xlabel="position of the key", ylabel="weight", yscale="log", ylim=(1e-6, 1.5))
    left.legend(fontsize=8)
    image = right.imshow(bias[0], cmap=SEQUENTIAL + "_r")
    right.set(xlabel="position of the key", ylabel="position of the query", title="head 0, yours")
    figure.colorbar(image, ax=right, shrink=0.8)
    slopes = (bias[:, 2, 2] - bias[:, 2, 1]).tolist()
    return ["Your slopes for 6 heads: " + ", ".join(f"{slope:.5g}" for slope in slopes)]


def draw_groups(figure, submission):
    """Who shares with whom, and what the mask does

    Six heads, three key-value heads; key-value head n is made to look at token n. Left: a row
    is a head, a column is the token that it looks at. Neighbours should look at the same token.
    Right: the weights of one head that sees everything alike, under a causal mask.
    """
    sizes, length = Sizes(36, 6, 3), 6
    left, right = figure.subplots(1, 2)
    tokens = torch.zeros(1, length, 36)
    tokens[0, :, :length] = torch.eye(length)
    keys, values = torch.zeros(18, 36), torch.zeros(18, 36)
    for head in range(3):
        keys[6 * head : 6 * head + 6, head] = 8.0
        values[6 * head : 6 * head + length, :length] = torch.eye(length)
    same = (torch.eye(36), 0.0)
    layer = build(submission, sizes, Wq=(0.0, 1.0), Wk=(keys, 0.0), Wv=(values, 0.0), Wo=same)
    looks = run(layer, tokens)[0, -1].unflatten(-1, (6, 6))  # (head, token)
    left.imshow(looks, cmap=SEQUENTIAL, vmin=0, vmax=1)
    left.set(xlabel="token looked at", ylabel="head", title="which key-value head, yours")
    layer = build(submission, sizes, Wv=(values, 0.0), Wo=same)
    weights = run(layer, tokens, causal(length))[0].unflatten(-1, (6, 6))[:, 0]
    right.imshow(weights.nan_to_num(), cmap=SEQUENTIAL, vmin=0, vmax=1)
    right.set(xlabel="token looked at", ylabel="token that asks", title="causal mask, yours")
    above = float(weights.nan_to_num().triu(1).sum())
    return [f"Weight on tokens that the mask hides: {above:.3g} (expected: 0)."]
