"""What the feedback page shows of work that is not right yet: its numbers as pictures.

Inputs are chosen here so that a mistake can be seen; the tests use others.
"""

import math

import torch
from comparison import tensor_of

D_MODEL, STEPS = 12, 3
NUM_HEADS, LENGTH = 6, 12


def offset(submission):
    """The matrix of the relative offset: blocks along the diagonal."""
    return {
        "title": f"relative_offset({STEPS}, {D_MODEL})",
        "caption": (
            "Blocks of two by two along the diagonal, and nothing elsewhere. The first block turns"
            " most; towards the end they come near the identity."
        ),
        "rows": "feature that is made",
        "columns": "feature that it is made from",
        "range": (-1.0, 1.0),
        "panels": [("", submission.relative_offset(STEPS, D_MODEL), offset_matrix())],
    }


def offset_matrix():
    """Return the right matrix, entry by entry."""
    rows = [[0.0] * D_MODEL for _ in range(D_MODEL)]
    for sine in range(0, D_MODEL, 2):
        angle = STEPS / 10000 ** (sine / D_MODEL)
        rows[sine][sine] = rows[sine + 1][sine + 1] = math.cos(angle)
        rows[sine][sine + 1], rows[sine + 1][sine] = math.sin(angle), -math.sin(angle)
    return rows


def turns(submission):
    """One feature after the other, turned: where does it arrive?"""
    d_k, place = 8, 1
    tokens = torch.eye(d_k).reshape(1, 1, d_k, d_k)
    came = submission.apply_rope(tokens, torch.full((d_k,), place))
    right = torch.zeros(d_k, d_k)
    for feature in range(d_k):
        angle = place / 10000 ** (feature // 2 * 2 / d_k)
        right[feature, feature] = math.cos(angle)
        right[feature, feature ^ 1] = math.sin(angle) * (-1 if feature % 2 else 1)
    return {
        "title": "apply_rope of one feature at a time, at position 1",
        "caption": (
            "A row is a token with a 1 in one feature. It may arrive in that feature and its"
            " neighbour only: 0 and 1, 2 and 3, and so on."
        ),
        "rows": "feature that is 1",
        "columns": "feature that it arrives in",
        "range": (-1.0, 1.0),
        "panels": [("", tensor_of(came, (1, 1, d_k, d_k))[0, 0], right)],
    }


def biases(submission):
    """The biases of six heads, on and below the diagonal."""
    bias = tensor_of(submission.alibi_bias(NUM_HEADS, LENGTH), (NUM_HEADS, LENGTH, LENGTH))
    place = torch.arange(LENGTH)
    distance = (place[:, None] - place).clamp(min=0)
    slopes = (1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8)
    return {
        "title": f"alibi_bias({NUM_HEADS}, {LENGTH})",
        "caption": (
            "Only what is on and below the diagonal is shown. Each head falls evenly towards the"
            " left, head 4 fastest and head 3 slowest."
        ),
        "rows": "token that asks",
        "columns": "token looked at",
        "range": (-6.0, 0.0),
        "panels": [
            (f"head {head}", bias[head].tril().nan_to_num(), -slope * distance)
            for head, slope in enumerate(slopes)
        ],
    }


PICTURES = {"relative_offset": [offset], "apply_rope": [turns], "alibi_bias": [biases]}
