"""The embedding, and how positions get into it."""

import math

import torch

from autograder.faults import Axis, Fault, unchanged

from .. import graded
from ..attention.projections import layer_norm
from .given import given

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

# --- embedding --------------------------------------------------------------------------------


def _scaled(name, sentence, factor, cost=1, test=graded.BLOCK_AMOUNTS):
    return Fault(f"embedding_{name}", sentence,
                 "What does EmbeddingWithPE do to the embedding, and what does your code add?",
                 test, lambda e: e * factor(), cost)


SCALE = Axis("scale", unchanged, (
    _scaled("scaled", "the embedding is multiplied by sqrt(d_model)",
            lambda: math.sqrt(given.d_model)),
    _scaled("divided", "the embedding is divided by sqrt(d_model)",
            lambda: 1 / math.sqrt(given.d_model)),
    _scaled("scaled_by_d_model", "the embedding is multiplied by d_model",
            lambda: given.d_model, 3),
    _scaled("scaled_by_d_k", "the embedding is multiplied by sqrt(d_k)",
            lambda: math.sqrt(given.d_k), 3),
    _scaled("missing", "the embedding of the tokens is lost, only the positions remain",
            lambda: 0, 2, graded.BLOCK_ROWS),
    Fault("embedding_normalised", "the embedding is normalised before positions are added",
          "What does EmbeddingWithPE do to the embedding, and what does your code add?",
          graded.BLOCK_ROWS, layer_norm, 3),
    Fault("embedding_of_zero_dropped", "token 0 gets a vector of zeros, as if it were padding",
          "Is token 0 a token like any other?", graded.BLOCK_TOKEN_ZERO,
          lambda e: e * (given.tokens != 0)[..., None], 2),
))


# --- positions: (embedded, table) -> what queries, keys, values and the output get


def _rows(rows):
    """Adds these rows of the table, one for each token."""
    return lambda e, table: e + rows(table)


def _by_token(table):
    return table[given.tokens]


HOW = "How often, to what and along which axis is the encoding added?"


def _positions(name, sentence, does, cost=1, test=graded.BLOCK_POSITIONS):
    return Fault(f"positions_{name}", sentence, HOW, test, does, cost)


def _only(*roles):
    """Positions for these roles only, of queries, keys and values."""
    return lambda e, t: tuple(e + t[:given.length] if role in roles else e for role in "qkv")


POSITIONS = Axis("positions", _rows(lambda t: t[:given.length]), (
    _positions("missing", "no positions are added", lambda e, t: e),
    _positions("twice", "positions are added twice", _rows(lambda t: 2 * t[:given.length]),
               test=graded.BLOCK_AMOUNTS),
    _positions("and_embedding_twice", "the embedding is added once more to its sum with the "
               "positions", lambda e, t: 2 * e + t[:given.length], test=graded.BLOCK_AMOUNTS),
    _positions("sum_doubled", "the sum of embedding and positions is doubled",
               lambda e, t: 2 * (e + t[:given.length]), 2, test=graded.BLOCK_NOTHING_ELSE),
    _positions("multiplied", "positions are multiplied with the embedding instead of added",
               lambda e, t: e * t[:given.length], test=graded.BLOCK_ROWS),
    _positions("multiplied_and_added", "the embedding is multiplied by 1 + positions",
               lambda e, t: e * (1 + t[:given.length]), 3, test=graded.BLOCK_ROWS),
    _positions("subtracted", "positions are subtracted", _rows(lambda t: -t[:given.length]), 3,
               test=graded.BLOCK_AMOUNTS),
    _positions("over_batch", "positions count the sequences of the batch instead of the tokens",
               _rows(lambda t: t[:given.batch, None])),
    _positions("reversed", "positions run from the last token to the first",
               _rows(lambda t: t[:given.length].flip(0)), 2, test=graded.BLOCK_ROWS),
    _positions("reversed_table", "the table is used from its end backwards",
               _rows(lambda t: t.flip(0)[:given.length]), 3, test=graded.BLOCK_ROWS),
    _positions("at_end", "the last rows of the table are added instead of the first",
               _rows(lambda t: t[-given.length:]), 2, test=graded.BLOCK_ROWS),
    _positions("shifted", "positions start with row 1 of the table",
               _rows(lambda t: t[1:given.length + 1]), 2, test=graded.BLOCK_ROWS),
    _positions("first_for_all", "every token gets the same row of the table, row 0",
               _rows(lambda t: t[0]), 2),
    _positions("last_for_all", "every token gets the same row of the table, row length - 1",
               _rows(lambda t: t[given.length - 1]), 2),
    _positions("length_for_all", "every token gets the same row of the table, row length",
               _rows(lambda t: t[given.length]), 2),
    _positions("by_token", "the table is indexed by token instead of by position",
               _rows(_by_token), 2),
    _positions("scaled", "positions are multiplied by sqrt(d_model)",
               _rows(lambda t: t[:given.length] * math.sqrt(given.d_model)), 2,
               test=graded.BLOCK_AMOUNTS),
    _positions("divided", "positions are divided by sqrt(d_model)",
               _rows(lambda t: t[:given.length] / math.sqrt(given.d_model)), 2,
               test=graded.BLOCK_AMOUNTS),
    _positions("scaled_with_embedding", "the sum of embedding and positions is multiplied by "
               "sqrt(d_model)", lambda e, t: (e + t[:given.length]) * math.sqrt(given.d_model), 2,
               test=graded.BLOCK_NOTHING_ELSE),
    _positions("after_attention", "positions are added to the output of the attention instead of "
               "its input", lambda e, t: (e, e, e, t[:given.length].expand_as(e)),
               test=graded.BLOCK_ROWS),
    _positions("averaged", "the average of embedding and positions is used instead of their sum",
               lambda e, t: (e + t[:given.length]) / 2, 3, test=graded.BLOCK_NOTHING_ELSE),
    _positions("not_in_values", "positions reach queries and keys, not the values",
               _only("q", "k"), test=graded.BLOCK_VALUES),
    _positions("in_queries_only", "positions reach the queries only", _only("q"), 2,
               test=graded.BLOCK_VALUES),
    _positions("in_keys_only", "positions reach the keys only", _only("k"), 2),
    _positions("in_values_only", "positions reach the values only", _only("v"), 2),
    _positions("not_in_queries", "positions reach keys and values, not the queries",
               _only("k", "v"), 2),
))


def place(state, scale, positions, before):
    embedded = scale(state["embedded"])
    placed = positions(embedded, given.table.to(embedded))
    placed = placed if isinstance(placed, tuple) else 3 * (placed,)
    query, key, value, after = (*placed, torch.zeros_like(embedded))[:4]
    return {"embedded": state["embedded"], "query": before(query), "key": before(key),
            "value": before(value), "after": after}


EXTRA = "Which layers does this block consist of?"
BEFORE = Axis("before", unchanged, (
    Fault("normalised_before", "a layer norm stands before the attention", EXTRA,
          graded.BLOCK_NOTHING_ELSE, layer_norm, 2),
    Fault("relu_before", "a ReLU stands before the attention", EXTRA, graded.BLOCK_NOTHING_ELSE,
          torch.relu, 3),
))
