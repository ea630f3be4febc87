"""The attention over the embedded tokens, and what comes after it."""

import math

import torch
import torch.nn.functional as F

from autograder.faults import Axis, Fault, unchanged

from .. import graded
from ..attention.projections import layer_norm
from .embedding import EXTRA, HOW
from .given import given

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

# --- attention: a view is (how the batch is turned before attention, and turned back) ---------


VIEW = Axis("view", (unchanged, unchanged), (
    Fault("attends_over_batch", "attention runs over the batch instead of the tokens "
          "(nn.MultiheadAttention without batch_first=True)",
          "Which axis does nn.MultiheadAttention take for the tokens unless told otherwise?",
          graded.BLOCK_BATCH, (lambda t: t.transpose(1, 2), lambda t: t.transpose(1, 2))),
    Fault("length_first_returned", "batch and length are exchanged and not exchanged back",
          "In which order do the axes of the result lie?", graded.BLOCK_FORM,
          (unchanged, lambda t: t.transpose(1, 2)), 2),
    Fault("attends_over_batch_turned", "attention runs over the batch, and batch and length are "
          "exchanged in the result", "In which order do the axes of the result lie?",
          graded.BLOCK_BATCH, (lambda t: t.transpose(1, 2), unchanged), 3),
))

NUMBER = Axis("number", lambda: given.heads, (
    Fault("one_head", "there is a single head instead of num_heads",
          "What becomes of num_heads in your block?", graded.BLOCK_WHOLE, lambda: 1),
    Fault("heads_of_d_k", "num_heads and d_k have changed places",
          "What becomes of num_heads in your block?", graded.BLOCK_WHOLE, lambda: given.d_k, 3),
))


def _triangle(keep):
    def masked(s):
        seen = keep(torch.ones(s.shape[-2:], dtype=torch.bool))
        return s.masked_fill(~seen, -1e9)
    return masked


def _without_zero(s):
    if s.shape[1] != given.batch:
        return s
    return s.masked_fill((given.tokens == 0)[:, None, None], -1e9)


ASKED = "May a token look at every token of its sequence, itself included?"
MASK = Axis("mask", unchanged, (
    Fault("causal", "a causal mask hides the tokens that come later", ASKED, graded.BLOCK_ATTENTION,
          _triangle(torch.tril)),
    Fault("anti_causal", "a mask hides the tokens that come earlier", ASKED, graded.BLOCK_ATTENTION,
          _triangle(torch.triu), 2),
    Fault("self_hidden", "a mask hides each token from itself", ASKED, graded.BLOCK_WHOLE,
          _triangle(lambda m: ~torch.eye(len(m), dtype=torch.bool)), 3),
    Fault("padding_hidden", "token 0 is masked as padding", "Is token 0 a token like any other?",
          graded.BLOCK_TOKEN_ZERO, _without_zero, 2),
))


def _linear(t, role):
    return t @ given.weights[role].to(t).mT + given.biases[role].to(t)


def attention(query, key, value, heads, mask):
    """The weights and the output of a right attention layer."""
    q, k, v = (
        _linear(t, role).unflatten(-1, (heads, -1)).transpose(2, 3)
        for t, role in ((query, "q"), (key, "k"), (value, "v"))
    )
    weights = mask(q @ k.mT / math.sqrt(q.shape[-1])).softmax(-1)
    return weights, _linear((weights @ v).transpose(2, 3).flatten(3), "o")


RETURNED = Axis("returned", "output", (
    Fault("weights_returned", "the attention weights are returned instead of the output",
          "nn.MultiheadAttention returns two things: which is which?", graded.BLOCK_FORM,
          "mean", 3),
    Fault("weights_of_heads_returned", "the attention weights of every head are returned",
          "nn.MultiheadAttention returns two things: which is which?", graded.BLOCK_FORM,
          "all", 3),
))

TIMES = Axis("times", 1, (
    Fault("attention_missing", "the embedding is returned, attention does not take part",
          "What happens between the embedding and the result?", graded.BLOCK_ATTENTION, 0),
    Fault("attention_twice", "attention is applied twice",
          "How often does the embedding pass through attention?", graded.BLOCK_WHOLE, 2, 2),
))


def attend(state, view, number, mask, times, returned):
    turn, back = view
    inputs = state["query"], state["key"], state["value"]
    query, key, value = (turn(t) for t in inputs)
    result = query
    for _ in range(times):
        weights, result = attention(query, key, value, number(), mask)
        if returned != "output":
            return {"output": weights.mean(2) if returned == "mean" else weights}
        query = key = value = result
    return {"embedded": state["embedded"], "placed": inputs[0], "attended": back(result),
            "after": state["after"]}


# --- afterwards -------------------------------------------------------------------------------


def _added(name, sentence, does, cost=1, test=graded.BLOCK_NOTHING_ELSE):
    return Fault(name, sentence, EXTRA, test, does, cost)


RESIDUAL = Axis("residual", lambda out, placed, embedded: out, (
    _added("residual", "the input of the attention is added to its output (a residual connection)",
           lambda out, placed, embedded: out + placed),
    _added("residual_of_embedding", "the bare embedding is added to the output",
           lambda out, placed, embedded: out + embedded, 2, graded.BLOCK_ROWS),
    Fault("positions_before_and_after",
          "positions are added once more, to the output of the attention", HOW,
          graded.BLOCK_ROWS,
          lambda out, placed, embedded: out + given.table[:given.length].to(out)),
))

FINISH = Axis("finish", unchanged, (
    _added("normalised_after", "a layer norm stands after the attention", layer_norm),
    _added("relu_after", "a ReLU stands after the attention", torch.relu, 2),
    _added("gelu_after", "a GELU stands after the attention", F.gelu, 3),
    _added("softmax_after", "a softmax stands after the attention", lambda t: t.softmax(-1), 3),
    Fault("mean_returned", "the result is averaged over the tokens",
          "How many vectors should come back for each sequence?", graded.BLOCK_FORM,
          lambda t: t.mean(-2), 2),
    Fault("first_returned", "only the first token is returned",
          "How many vectors should come back for each sequence?", graded.BLOCK_FORM,
          lambda t: t[..., 0, :], 2),
    Fault("last_returned", "only the last token is returned",
          "How many vectors should come back for each sequence?", graded.BLOCK_FORM,
          lambda t: t[..., -1, :], 2),
))


def finish(state, residual, last):
    out = state["attended"]
    if out.shape == state["placed"].shape:
        out = residual(out + state["after"], state["placed"], state["embedded"])
    return {"output": last(out)}
