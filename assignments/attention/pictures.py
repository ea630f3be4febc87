"""What the feedback page shows of work that is not right yet: its numbers as pictures.

Inputs and weights are chosen here so that a mistake can be seen; the tests use others.
"""

import math

import torch
from comparison import tensor_of

MAX_LEN, WIDTH = 48, 32
LENGTH, NUM_HEADS, D_K = 8, 3, 10
D_MODEL = NUM_HEADS * D_K


def waves(submission):
    """The encoding as a table of colours: positions downwards, features to the right."""
    return {
        "title": f"positional_encoding({MAX_LEN}, {WIDTH})",
        "caption": (
            "Each column is a wave over the positions. To the left they are short, pair by pair"
            " they get longer, and to the right they hardly change. Sine and cosine alternate, so"
            " the first row has the values 0, 1, 0, 1, and so on."
        ),
        "rows": "position",
        "columns": "feature",
        "range": (-1.0, 1.0),
        "panels": [("", submission.positional_encoding(MAX_LEN, WIDTH), encoding())],
    }


def encoding():
    """Return the table of the handout, (MAX_LEN, WIDTH), number by number."""
    return [
        [
            (math.cos if column % 2 else math.sin)(pos / 10000 ** (column // 2 * 2 / WIDTH))
            for column in range(WIDTH)
        ]
        for pos in range(MAX_LEN)
    ]


def heads(submission):
    """Where each head looks.

    Token i is a 1 at feature i. Every head hands on what it looks at unchanged (its values
    are that 1, and Wo leaves all as it is), so its part of the answer *is* its weights.
    """
    layer = submission.MultiHeadAttention(D_MODEL, NUM_HEADS)
    layer.load_state_dict(weights())
    layer.eval()
    tokens = torch.zeros(2, LENGTH, D_MODEL)
    tokens[0, :, :LENGTH] = torch.eye(LENGTH)
    tokens[1, :, :LENGTH] = torch.eye(LENGTH).flip(0)
    answer = tensor_of(layer(tokens), tuple(tokens.shape))[0]
    parts = answer.unflatten(-1, (NUM_HEADS, D_K))  # (length, num_heads, d_k)
    return {
        "title": f"Where each of {NUM_HEADS} heads looks, with weights of our choosing",
        "caption": (
            "A row is a token that asks, a column is a token that it looks at; darker is more."
            " In a right layer, each row adds up to 1."
        ),
        "rows": "token that asks",
        "columns": "token looked at",
        "range": (0.0, 1.0),
        "panels": [
            (f"head {head}: {wish}", parts[:, head, :LENGTH], attention(scores))
            for head, (wish, scores) in enumerate(wishes().items())
        ],
    }


def wishes():
    """Return what the heads are made to look at: words, and scores (length, length)."""
    place = torch.arange(LENGTH)
    gap = place - place.unsqueeze(1)  # (length of queries, length of keys)
    return {
        "the token itself": -1.2 * gap.abs(),
        "the token before": -1.2 * (gap + 1).abs(),
        "the beginning": -0.6 * place.expand(LENGTH, LENGTH),
    }


def attention(scores):
    """Return the weights that these scores make: (length, length), each row adds up to 1."""
    raised = torch.exp(scores)
    return raised / raised.sum(1, keepdim=True)


def weights():
    """Return the state of a layer whose heads look where `wishes` says."""
    state = {f"{name}.bias": torch.zeros(D_MODEL) for name in ("Wq", "Wk", "Wv", "Wo")}
    same = torch.zeros(D_K, D_MODEL)
    same[:LENGTH, :LENGTH] = torch.eye(LENGTH)  # feature i of a head is feature i of the token
    state["Wk.weight"] = state["Wv.weight"] = same.repeat(NUM_HEADS, 1)
    asking = torch.zeros(NUM_HEADS, D_K, D_MODEL)
    for head, scores in enumerate(wishes().values()):
        asking[head, :LENGTH, :LENGTH] = scores.T * math.sqrt(D_K)
    state["Wq.weight"] = asking.flatten(0, 1)
    state["Wo.weight"] = torch.eye(D_MODEL)
    return state


PICTURES = {"multi_head_attention": [heads], "positional_encoding": [waves]}
