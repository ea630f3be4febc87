"""The input and its projections: what queries, keys and values are made of."""

import math

import torch
import torch.nn.functional as F

from autograder.faults import Axis, Fault

from .. import graded
from .given import given

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

def _table(length, d_model, like):
    angle = torch.arange(length)[:, None] * 10000.0 ** (-torch.arange(0, d_model + 1, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)[:, :d_model].to(like)


def layer_norm(t):
    return F.layer_norm(t, t.shape[-1:])


INPUT = Axis("input", lambda x: x, (
    Fault("input_normalised", "the input goes through a layer norm first",
          "Does anything in the formula normalise x?", graded.VALUES, layer_norm, 3),
    Fault("input_has_positions", "positions are added inside the attention layer",
          "Should this layer know where a token stands?", graded.SHUFFLED,
          lambda x: x + _table(given.length, given.d_model, x), 3),
    Fault("input_scaled", "the input is multiplied by sqrt(d_model) first",
          "What does the formula divide or multiply, and where?", graded.DIVISOR,
          lambda x: x * math.sqrt(given.d_model), 3),
))


def linear(x, weight, bias):
    return x @ weight.mT + bias


def _blocks(x, weight, bias):
    mask = torch.block_diag(*[torch.ones(given.d_k, given.d_k)] * given.heads).to(weight)
    return x @ (weight * mask).mT + bias


PROJECTIONS = Axis("projections", linear, (
    Fault("projections_without_bias", "Wq, Wk and Wv are used without their biases",
          "What does calling an nn.Linear do beyond multiplying by its weight?", graded.VALUES,
          lambda x, w, b: x @ w.mT, 2),
    Fault("projections_transposed", "Wq, Wk and Wv are used transposed (x @ W instead of x @ W.T)",
          "Which way round does nn.Linear keep its weight?", graded.VALUES,
          lambda x, w, b: x @ w + b, 2),
    Fault("projections_transposed_without_bias",
          "Wq, Wk and Wv are used transposed and without their biases",
          "What does calling an nn.Linear compute, written out?", graded.VALUES,
          lambda x, w, b: x @ w, 2),
    Fault("projections_twice", "each projection is applied twice",
          "How often does the input pass through Wq?", graded.ROLES,
          lambda x, w, b: linear(linear(x, w, b), w, b), 3),
    Fault("projections_of_slices", "each head projects only its own slice of the input",
          "Which features of a token may a head look at: its d_k, or all d_model?", graded.VALUES,
          _blocks, 2),
    Fault("projections_relu", "queries, keys and values go through a ReLU",
          "Is there a non-linearity in the formula besides softmax?", graded.ROLES,
          lambda x, w, b: linear(x, w, b).relu(), 2),
))


def project(state, change, use, roles):
    x = change(state["x"])

    def made(role):
        """`Wq>Wk` is `Wk(Wq(x))`, `x` the input itself."""
        t = x
        for name in role.split(">"):
            if name != "x":
                t = use(t, given.weights[name].to(x), given.biases[name].to(x))
        return t

    query, key, value = (made(role) for role in roles)
    return {"query": query, "key": key, "value": value}
