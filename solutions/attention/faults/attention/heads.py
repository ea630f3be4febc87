"""How heads are cut out of the projections, and put together again."""

import torch
import torch.nn.functional as F

from autograder.faults import Axis, Fault, unchanged

from .. import graded
from .given import given
from .projections import layer_norm

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

# --- heads: a split is (how tensors are cut, how the heads' answers come back to b, h, l, d_k)


def _per_token(t):
    return t.unflatten(-1, (given.heads, given.d_k))


def _standard(t):
    return _per_token(t).transpose(2, 3)


def _overlapping(t):
    return torch.stack([t[..., i:i + given.d_k] for i in range(given.heads)], 2)


def _shape(t, *shape):
    return t.reshape(len(t), *shape)


def _length_first(t):
    return _shape(t, given.length, given.batch, given.d_model)


SPLIT = Axis("split", (_standard, unchanged), (
    Fault("split_by_view",
          "the heads are cut by viewing (batch, length, d_model) as (batch, heads, length, d_k), "
          "which mixes tokens",
          "After the reshape, which numbers of which token does a head hold?", graded.SHUFFLED,
          (lambda t: _shape(t, given.batch, given.heads, given.length, given.d_k), unchanged)),
    Fault("split_interleaved",
          "the features are split as (d_k, heads), so a head gets every num_heads-th feature",
          "Which d_k features of a projection belong to the first head?", graded.HEAD_ORDER,
          (lambda t: t.unflatten(-1, (given.d_k, given.heads)).permute(0, 1, 4, 2, 3), unchanged)),
    Fault("split_missing", "there is a single head of size d_model",
          "Where does num_heads change what is computed?", graded.HEADS,
          (lambda t: t[:, :, None], unchanged)),
    Fault("heads_attend_to_each_other",
          "attention runs between the heads of one token instead of between tokens",
          "Which two axes should the scores have, and which axes does your product leave?",
          graded.HEADS, (_per_token, lambda t: t.transpose(2, 3))),
    Fault("split_without_transpose",
          "the head axis is not moved before the product, so the heads of one token attend to "
          "each other",
          "Which two axes should the scores have, and which axes does your product leave?",
          graded.SHUFFLED, (_per_token, unchanged)),
    Fault("split_overlapping", "the slices of the heads overlap (they start at 0, 1, 2, ...)",
          "Where does the slice of the second head begin?", graded.HEAD_ORDER,
          (_overlapping, unchanged), 2),
    Fault("attends_over_batch", "attention runs over the batch instead of over the tokens",
          "Which axis of x counts the tokens of one sequence?", graded.BATCH,
          (lambda t: _standard(t.transpose(1, 2)), lambda t: t.permute(0, 3, 2, 1, 4)), 2),
    Fault("batch_length_mixed",
          "batch and length are exchanged by a view instead of a transpose",
          "Does a view move an axis?", graded.BATCH,
          (lambda t: _standard(_length_first(t).transpose(1, 2)), unchanged), 3),
    Fault("split_mixes_batch",
          "heads folded into the batch are taken apart in the wrong order, which mixes sequences",
          "After folding heads into the batch, which index runs faster?", graded.BATCH,
          (lambda t: _shape(_standard(t).transpose(1, 2), *_standard(t).shape[1:]), unchanged), 3),
))

KEYS = Axis("keys", unchanged, (
    Fault("keys_transposed_by_view", "the keys are transposed by a view, which scrambles them",
          "Does a view move an axis?", graded.SHUFFLED,
          lambda k: k.reshape(*k.shape[:-2], k.shape[-1], k.shape[-2]).mT),
))

HEAD_NORM = Axis("head_norm", unchanged, (
    Fault("queries_keys_normalised", "queries and keys go through a layer norm in each head",
          "Does anything in the formula normalise the queries?", graded.DIVISOR, layer_norm, 3),
    Fault("queries_keys_unit", "queries and keys are scaled to length 1 (cosine similarity)",
          "What keeps the scores small in the formula?", graded.DIVISOR,
          lambda t: F.normalize(t, dim=-1), 3),
))


def split(state, how, transpose_keys, norm):
    cut = how[0]
    return {
        "query": state["query"],
        "q": norm(cut(state["query"])),
        "k": transpose_keys(norm(cut(state["key"]))),
        "v": cut(state["value"]),
    }


# --- merging ----------------------------------------------------------------------------------


def _joined(t):
    """(b, h, l, d_k) to (b, l, d_model), as `transpose(1, 2).reshape(b, l, d_model)` does it."""
    return _shape(t.transpose(2, 3), given.batch, -1, given.d_model)


def _slot(source, target):
    def place(t):
        made = torch.zeros_like(t)
        made[:, :, target] = t[:, :, source]
        return _joined(made)
    return place


ONLY = "How many heads end up in the output, and where does each one go?"
ORDER = "In which order do the axes lie when d_model is put together again?"
SHAPE = "What shape should the result have?"
MERGE = Axis("merge", _joined, (
    Fault("merge_without_transpose",
          "the heads are not moved back before the final reshape, which mixes tokens",
          ORDER, graded.SHUFFLED, lambda t: _shape(t, given.batch, -1, given.d_model)),
    Fault("merge_interleaved", "the heads are put together interleaved, as (d_k, heads)",
          ORDER, graded.HEAD_ORDER,
          lambda t: _shape(t.permute(0, 1, 3, 4, 2), given.batch, -1, given.d_model)),
    Fault("merge_sum", "the heads are added up instead of put side by side", ONLY, graded.HEADS,
          lambda t: t.sum(2), 2),
    Fault("merge_mean", "the heads are averaged instead of put side by side", ONLY, graded.HEADS,
          lambda t: t.mean(2), 2),
    Fault("merge_max", "the largest head counts, instead of all side by side", ONLY, graded.HEADS,
          lambda t: t.amax(2), 3),
    Fault("merge_first_head", "only the first head is used", ONLY, graded.HEADS,
          lambda t: t[:, :, 0], 2),
    Fault("merge_last_head", "only the last head is used", ONLY, graded.HEADS,
          lambda t: t[:, :, -1], 2),
    Fault("merge_first_alone", "only the first head is written, the rest stays zero", ONLY,
          graded.HEADS, _slot(0, 0), 2),
    Fault("merge_last_alone", "only the last head is written, the rest stays zero", ONLY,
          graded.HEADS, _slot(-1, -1), 2),
    Fault("merge_overwritten", "every head is written to the first d_k places, over the one before",
          ONLY, graded.HEADS, _slot(-1, 0), 2),
    Fault("merge_reversed", "the heads are put together in reverse order", ONLY, graded.HEAD_ORDER,
          lambda t: _joined(t.flip(2)), 3),
    Fault("merge_mixes_batch",
          "heads folded into the batch are unfolded in the wrong order, which mixes sequences",
          "After folding heads into the batch, which index runs faster?", graded.BATCH,
          lambda t: _joined(
              _shape(t, given.heads, given.batch, given.length, given.d_k).transpose(1, 2)), 2),
    Fault("returns_heads", "the heads are returned without having been put together",
          SHAPE, graded.FORM, unchanged, 3),
    Fault("returns_heads_by_token", "the heads are returned side by side, not joined to d_model",
          SHAPE, graded.FORM, lambda t: t.transpose(2, 3), 3),
))


def merge(state, how):
    heads = state["heads"]
    if heads.shape[2:] == (1, given.length, given.d_model):  # never split: nothing to put together
        return {"query": state["query"], "merged": heads[:, :, 0]}
    merged = how(heads)
    return {"output": merged} if merged.dim() == heads.dim() else state | {"merged": merged}
