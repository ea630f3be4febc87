"""Scores and weights: the divisor, the mask, the softmax, and how they meet the values."""

import math

import torch
import torch.nn.functional as F

from autograder.faults import Axis, Fault, unchanged

from .. import graded
from .given import given

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

PRODUCT = Axis("product", (lambda q, k: q @ k.mT, torch.matmul), (
    Fault("products_elementwise",
          "queries and keys, weights and values are multiplied entry by entry, not as matrices",
          "Which shape should the scores have, and which tokens meet in one of them?",
          graded.MASK, (torch.mul, torch.mul), 4),
))


# --- scores: a divisor is (of the scores, of the weights) -----------------------


def _divisor(name, what, number, cost=1):
    instead = "instead of" if what.startswith("divided") else "instead of divided by"
    return Fault(f"scale_{name}", f"the scores are {what} {instead} sqrt(d_k)",
                 "How does the size of a score grow with d_k, and what brings it back to 1?",
                 graded.DIVISOR, (number, _one), cost)


def _root():
    return math.sqrt(given.d_k)


def _one():
    return 1


DIVISOR = Axis("divisor", (_root, _one), (
    Fault("scale_missing", "the scores are not divided by sqrt(d_k)",
          "What happens to the softmax when the scores grow with d_k?", graded.DIVISOR,
          (_one, _one)),
    _divisor("d_model", "divided by sqrt(d_model)", lambda: math.sqrt(given.d_model)),
    _divisor("d_k", "divided by d_k (or twice by its root)", lambda: given.d_k),
    _divisor("whole_d_model", "divided by d_model", lambda: given.d_model, 2),
    _divisor("multiplied", "multiplied by sqrt(d_k)", lambda: 1 / _root()),
    _divisor("multiplied_d_k", "multiplied by d_k", lambda: 1 / given.d_k, 3),
    _divisor("multiplied_d_model", "multiplied by sqrt(d_model)",
             lambda: 1 / math.sqrt(given.d_model), 2),
    _divisor("length", "divided by sqrt(length)", lambda: math.sqrt(given.length)),
    _divisor("whole_length", "divided by the length", lambda: given.length, 3),
    _divisor("num_heads", "divided by sqrt(num_heads)", lambda: math.sqrt(given.heads)),
    _divisor("whole_num_heads", "divided by num_heads", lambda: given.heads, 3),
    _divisor("eight", "divided by 8, the square root of a d_k of 64,", lambda: 8, 2),
    _divisor("batch", "divided by sqrt(batch)", lambda: math.sqrt(given.batch), 3),
    _divisor("int", "divided by the whole part of sqrt(d_k)", lambda: int(_root()), 2),
    _divisor("square", "divided by d_k squared", lambda: given.d_k**2, 2),
    _divisor("fourth_root", "divided by the fourth root of d_k", lambda: math.sqrt(_root()), 2),
    Fault("scale_after_softmax", "the weights are divided by sqrt(d_k) after the softmax, "
          "instead of the scores before it",
          "What should each row of attention weights add up to?", graded.DIVISOR, (_one, _root)),
    Fault("scale_before_and_after", "the weights are divided by sqrt(d_k) once more after softmax",
          "What should each row of attention weights add up to?", graded.DIVISOR, (_root, _root),
          3),
))


def _square(s):
    return torch.ones(s.shape[-2:], dtype=torch.bool)


def _masked(keep):
    return lambda s: s.masked_fill(~keep(_square(s)), -1e9)


def _padding(is_token):
    def mask(s):
        if s.shape[-1] != given.length:
            return s
        seen = is_token(given.x)[:, None, None]
        return s.masked_fill(~seen, -1e9) if s.shape[1] == given.batch else s
    return mask


ASKED = "May a token of this layer look at every token, itself included?"
MASK = Axis("mask", unchanged, (
    Fault("mask_causal", "a causal mask hides the tokens that come later", ASKED, graded.SHUFFLED,
          _masked(torch.tril)),
    Fault("mask_anti_causal", "a mask hides the tokens that come earlier", ASKED, graded.SHUFFLED,
          _masked(torch.triu), 2),
    Fault("mask_strictly_causal", "a mask hides each token from itself and the later ones", ASKED,
          graded.MASK, _masked(lambda m: m.tril(-1)), 2),
    Fault("mask_later_only", "a mask leaves each token only the later ones", ASKED, graded.MASK,
          _masked(lambda m: m.triu(1)), 3),
    Fault("mask_self", "a mask hides each token from itself", ASKED, graded.MASK,
          _masked(lambda m: ~torch.eye(len(m), dtype=torch.bool)), 2),
    Fault("mask_padding", "tokens that are all zeros are masked as padding",
          "Does the layer know anything about padding?", graded.ZERO_TOKEN,
          _padding(lambda x: (x != 0).any(-1)), 2),
    Fault("mask_zero_sum", "tokens whose features add up to zero are masked as padding",
          "Does the layer know anything about padding?", graded.ZERO_TOKEN,
          _padding(lambda x: x.sum(-1) != 0), 3),
    Fault("mask_multiplied", "the scores are multiplied by a causal mask of zeros and ones",
          ASKED, graded.SHUFFLED, lambda s: s * _square(s).tril(), 3),
))


def score(state, product, divisor, mask):
    scores = product[0](state["q"], state["k"]) / divisor[0]()
    return {"query": state["query"], "v": state["v"], "scores": mask(scores)}


# --- weights ----------------------------------------------------------------------------------


def _over(*axes):
    def softmax(s):
        last = [a % s.dim() for a in axes]
        exp = (s - s.amax(last, keepdim=True)).exp()
        return exp / exp.sum(last, keepdim=True)
    return softmax


def _normaliser(name, sentence, does, cost=1, test=graded.CONSTANT_VALUES):
    return Fault(f"softmax_{name}", sentence,
                 "For one query, over what do the weights add up to 1?", test,
                 (does, unchanged), cost)


# A normaliser is (of the scores, of what becomes of the values).
NORMALISER = Axis("normaliser", (_over(-1), unchanged), (
    _normaliser("over_queries", "softmax runs over the queries", _over(-2)),
    _normaliser("over_heads", "softmax runs over the heads", _over(-3)),
    _normaliser("over_batch", "softmax runs over the batch", _over(-4)),
    _normaliser("over_all_pairs", "softmax runs over all pairs of tokens at once",
                _over(-1, -2), 2),
    _normaliser("over_everything", "the weights are normalised over the whole tensor at once",
                _over(-1, -2, -3, -4), 3),
    _normaliser("missing", "softmax is missing", unchanged),
    _normaliser("twice", "softmax is applied twice", lambda s: _over(-1)(_over(-1)(s)), 2,
                graded.DIVISOR),
    _normaliser("is_sigmoid", "a sigmoid stands in place of softmax", torch.sigmoid, 2),
    _normaliser("is_log_softmax", "log_softmax stands in place of softmax",
                lambda s: s.log_softmax(-1), 2, graded.WHOLE),
    _normaliser("is_relu", "a ReLU stands in place of softmax", torch.relu, 3),
    _normaliser("is_tanh", "tanh stands in place of softmax", torch.tanh, 3),
    _normaliser("is_exp", "the exponentials are not divided by their sum", torch.exp, 3),
    _normaliser("is_sum", "the scores are divided by their sum, without exponentials",
                lambda s: s / s.sum(-1, keepdim=True), 2, graded.DIVISOR),
    _normaliser("is_hard", "only the largest score counts (argmax instead of softmax)",
                lambda s: F.one_hot(s.argmax(-1), s.shape[-1]).to(s), 3, graded.DIVISOR),
    _normaliser("after_relu", "the scores go through a ReLU before softmax",
                lambda s: _over(-1)(s.relu()), 2, graded.DIVISOR),
    _normaliser("after_tanh", "the scores go through tanh before softmax",
                lambda s: _over(-1)(s.tanh()), 2, graded.DIVISOR),
    _normaliser("after_abs", "softmax gets the absolute values of the scores",
                lambda s: _over(-1)(s.abs()), 3, graded.DIVISOR),
    _normaliser("negative", "the scores have the wrong sign before softmax",
                lambda s: _over(-1)(-s), 3, graded.ROLES),
    Fault("softmax_after_values", "softmax comes after the product with the values, not before it",
          "What should add up to 1: the weights of a query, or the features of its answer?",
          graded.VALUES, (unchanged, _over(-1)), 2),
))

MIXING = Axis("mixing", unchanged, (
    Fault("weights_transposed", "the weights are transposed before they meet the values",
          "Whose row of weights makes the new vector of a token?", graded.CONSTANT_VALUES,
          lambda a: a.mT),
    Fault("weights_ignored", "the values go on without having been mixed by the weights",
          "Where does one token hear of another?", graded.MASK,
          lambda a: torch.eye(a.shape[-1]).to(a).expand_as(a), 2),
    Fault("weights_uniform", "every token gets the plain average of all values",
          "What do queries and keys decide?", graded.DIVISOR,
          lambda a: torch.full_like(a, 1 / a.shape[-1]), 2),
    Fault("weights_averaged", "the weights are averaged over the heads before they meet the values",
          "Do the heads share their weights?", graded.HEADS,
          lambda a: a.mean(2, keepdim=True).expand_as(a), 2),
    Fault("weights_masked_late", "a causal mask is applied to the weights after softmax", ASKED,
          graded.SHUFFLED, lambda a: a * _square(a).tril(), 3),
))

RETURNED = Axis("returned", None, (
    Fault("returns_weights", "the attention weights are returned instead of the output",
          "What shape should the result have, and what shape do the weights have?", graded.FORM,
          lambda a: a, 4),
    Fault("returns_mean_weights", "the attention weights, averaged over heads, are returned",
          "What shape should the result have, and what shape do the weights have?", graded.FORM,
          lambda a: a.mean(2), 4),
))


def mix(state, normaliser, divisor, how, mixing, product, returned):
    weights = normaliser[0](state["scores"]) / divisor[1]()
    if returned:
        return {"output": returned(weights)}
    heads = normaliser[1](product[1](mixing(weights), state["v"]))
    return {"query": state["query"], "heads": how[1](heads)}
