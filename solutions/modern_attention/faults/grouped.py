"""Grouped-query attention: the known mistakes, in the order in which the computation goes."""

import math

import torch
from torch import nn

from autograder.faults import Axis, Dictionary, Fault, Step, unchanged

from .context import Context

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

ID = "grouped_query_attention::"
FORM, GROUPS, VALUES = f"{ID}test_form", f"{ID}test_groups", f"{ID}test_values"
CONSTANT, DIVISOR = f"{ID}test_constant_values", f"{ID}test_divisor"
WHO, MASKED, NO_MASK = f"{ID}test_who_sees_whom", f"{ID}test_masked_weights", f"{ID}test_no_mask"
BATCH_TEST = f"{ID}test_batch"
OUT, WHOLE = f"{ID}test_output_projection", f"{ID}test_whole"

# Pairwise different where that can be, so that a mix-up of two sizes shows.
BATCH, LENGTH, HEADS, KV_HEADS, D_K = 2, 5, 6, 3, 4
D_MODEL, D_KV = HEADS * D_K, KV_HEADS * D_K
NAMES = ("Wq", "Wk", "Wv", "Wo")
_random = torch.Generator().manual_seed(37)


def _normal(*shape):
    return torch.randn(shape, generator=_random, dtype=torch.float64)


ROWS = {"Wq": D_MODEL, "Wk": D_KV, "Wv": D_KV, "Wo": D_MODEL}
WEIGHTS = {name: _normal(ROWS[name], D_MODEL) * 1.3 / math.sqrt(D_MODEL) for name in NAMES}
BIASES = {name: _normal(ROWS[name]) * 0.7 for name in NAMES}
X = _normal(BATCH, LENGTH, D_MODEL) * 0.6
# Every row and every column has a True and a False: no way to read it makes NaN.
MASK = torch.tensor([
    [1, 0, 1, 0, 0], [1, 1, 0, 0, 1], [0, 1, 1, 1, 0], [1, 0, 0, 1, 1], [0, 1, 0, 0, 1],
]).bool()

given = Context(heads=HEADS, kv_heads=KV_HEADS, d_k=D_K, x=X, weights=WEIGHTS, biases=BIASES,
                masks=(None, MASK))


def start(dtype):
    return {"x": X.to(dtype)[None]}


def probe(submission):
    module = submission.GroupedQueryAttention(D_MODEL, HEADS, KV_HEADS)
    state = dict(module.state_dict())
    for name in NAMES:
        for key, value in ((f"{name}.weight", WEIGHTS[name]), (f"{name}.bias", BIASES[name])):
            if state[key].shape != value.shape:
                return None
            state[key] = value.float()
    module.load_state_dict(state)
    module.eval()
    answers = [_ask(module), _ask(module, MASK.clone())]  # it may be written into
    answers = [answer[0] if isinstance(answer, tuple) else answer for answer in answers]
    return torch.cat([torch.as_tensor(answer) for answer in answers])


def _ask(module, *masks):
    """The answer of a layer, which may know no masks, or demand one."""
    try:
        return module(X.float(), *masks)
    except TypeError:
        return module(X.float()) if masks else module(X.float(), None)


def mutate(run):
    """What a submission would define whose layer computes as `run` does."""

    class GroupedQueryAttention(nn.Module):
        def __init__(self, d_model, num_heads, num_kv_heads):
            super().__init__()
            if d_model % num_heads or num_heads % num_kv_heads:
                raise ValueError("sizes do not divide")
            self.h, self.h_kv, self.d_k = num_heads, num_kv_heads, d_model // num_heads
            for name in NAMES:
                rows = d_model if name in ("Wq", "Wo") else num_kv_heads * self.d_k
                setattr(self, name, nn.Linear(d_model, rows))

        def forward(self, x, mask=None):
            layers = {name: getattr(self, name) for name in NAMES}
            with given.exchanged(
                heads=self.h, kv_heads=self.h_kv, d_k=self.d_k, x=x, masks=(mask,),
                weights={name: layer.weight for name, layer in layers.items()},
                biases={name: layer.bias for name, layer in layers.items()},
            ):
                return run({"x": x[None]})[0]

    return {"GroupedQueryAttention": GroupedQueryAttention}


# --- projections -------------------------------------------------------------------------------


def _linear(t, name):
    return t @ given.weights[name].to(t).mT + given.biases[name].to(t)


ROLE = "Which projection makes the keys, and which the values?"
ROLES = Axis("roles", ("Wq", "Wk", "Wv"), (
    Fault("keys_values_swapped", "keys and values are exchanged", ROLE, VALUES, ("Wq", "Wv", "Wk")),
    Fault("values_from_wk", "the values are the keys", ROLE, VALUES, ("Wq", "Wk", "Wk")),
    Fault("keys_from_wv", "the keys are the values", ROLE, WHOLE, ("Wq", "Wv", "Wv"), 2),
))

BIAS = Axis("bias", _linear, (
    Fault("projections_without_bias", "Wq, Wk and Wv are used without their biases",
          "What does calling an nn.Linear do beyond multiplying by its weight?", VALUES,
          lambda t, name: t @ given.weights[name].to(t).mT, 2),
))


def project(state, roles, bias):
    query, key, value = (bias(state["x"], name) for name in roles)
    return {"query": query, "key": key, "value": value}


# --- heads: a split takes (tensor, number of heads) and gives (n, batch, heads, length, d_k) ----


def _split(t, heads):
    return t.unflatten(-1, (heads, given.d_k)).transpose(2, 3)


CUT = "After the reshape, which numbers of which token does a head hold?"
SPLIT = Axis("split", _split, (
    Fault("split_by_view", "the heads are cut by viewing (batch, length, ...) as (batch, heads, "
          "length, d_k), which mixes tokens", CUT, WHO,
          lambda t, h: t.reshape(*t.shape[:2], h, t.shape[2], given.d_k)),
    Fault("split_interleaved", "the features are split as (d_k, heads), so a head gets every "
          "num_heads-th feature", CUT, GROUPS,
          lambda t, h: t.unflatten(-1, (given.d_k, h)).permute(0, 1, 4, 2, 3), 2),
))


def _each(t):
    return t.repeat_interleave(given.heads // given.kv_heads, 2)


def _all(t):
    return t.repeat(1, 1, given.heads // given.kv_heads, 1, 1)


def _first(t):
    return t[:, :, :1].expand(-1, -1, given.heads, -1, -1)


def _last(t):
    return t[:, :, -1:].expand(-1, -1, given.heads, -1, -1)


def _mean(t):
    return t.mean(2, keepdim=True).expand(-1, -1, given.heads, -1, -1)


SHARED = "With 6 heads and 3 key-value heads: which key-value head does query head 1 use?"
GROUP = Axis("group", (_each, _each), (
    Fault("heads_tiled", "the key-value heads are repeated as a whole (0, 1, 2, 0, 1, 2; `repeat`) "
          "instead of one by one (0, 0, 1, 1, 2, 2; `repeat_interleave`)", SHARED, GROUPS,
          (_all, _all)),
    Fault("keys_tiled", "the heads of the keys are repeated as a whole (0, 1, 2, 0, 1, 2), those "
          "of the values one by one", SHARED, GROUPS, (_all, _each), 2),
    Fault("values_tiled", "the heads of the values are repeated as a whole (0, 1, 2, 0, 1, 2), "
          "those of the keys one by one", SHARED, GROUPS, (_each, _all), 2),
    Fault("first_kv_head_only", "every query head uses key-value head 0", SHARED, GROUPS,
          (_first, _first)),
    Fault("last_kv_head_only", "every query head uses the last key-value head", SHARED, GROUPS,
          (_last, _last), 2),
    Fault("kv_heads_averaged", "the key-value heads are averaged into one", SHARED, GROUPS,
          (_mean, _mean), 2),
    Fault("kv_heads_reversed", "the key-value heads are given out in reverse order", SHARED, GROUPS,
          (lambda t: _each(t.flip(2)), lambda t: _each(t.flip(2))), 2),
))


def split(state, how, group):
    return {
        "q": how(state["query"], given.heads),
        "k": group[0](how(state["key"], given.kv_heads)),
        "v": group[1](how(state["value"], given.kv_heads)),
    }


# --- scores and weights ------------------------------------------------------------------------


def _divisor(name, what, number, cost=1):
    return Fault(f"scale_{name}", f"the scores are {what} instead of divided by sqrt(d_k)",
                 "How does the size of a score grow with d_k, and what brings it back to 1?",
                 DIVISOR, number, cost)


DIVIDE = Axis("divisor", lambda: math.sqrt(given.d_k), (
    Fault("scale_missing", "the scores are not divided by sqrt(d_k)",
          "What happens to the softmax when the scores grow with d_k?", DIVISOR, lambda: 1.0),
    _divisor("d_model", "divided by sqrt(d_model)", lambda: math.sqrt(given.d_k * given.heads)),
    _divisor("d_kv", "divided by sqrt(num_kv_heads * d_k)",
             lambda: math.sqrt(given.d_k * given.kv_heads)),
    _divisor("d_k", "divided by d_k", lambda: given.d_k),
    _divisor("num_heads", "divided by sqrt(num_heads)", lambda: math.sqrt(given.heads), 2),
    _divisor("group", "divided by sqrt(d_k), then by the size of a group,",
             lambda: math.sqrt(given.d_k) * given.heads / given.kv_heads, 2),
    _divisor("multiplied", "multiplied by sqrt(d_k)", lambda: 1 / math.sqrt(given.d_k), 2),
))


def _hide(scores, may):
    return scores.masked_fill(~may, -math.inf)


def _causal(scores):
    return torch.ones(scores.shape[-2:], dtype=torch.bool).tril()


# A way is (scores with a mask, weights with a mask, scores whether there is a mask or not).
NOTHING = (lambda s, m: s, lambda w, m: w, unchanged)
MAY = "Row i, column j of the mask is True: may token i look at token j, or must it not?"
MASK_AXIS = Axis("mask", (_hide, *NOTHING[1:]), (
    Fault("mask_inverted", "the mask is read the other way round: what is True is hidden (as "
          "nn.MultiheadAttention reads it), and here True means that a key may be looked at", MAY,
          WHO, (lambda s, m: _hide(s, ~m), *NOTHING[1:])),
    Fault("mask_ignored", "the mask has no effect", MAY, WHO, NOTHING),
    Fault("mask_transposed", "rows and columns of the mask are exchanged", MAY, WHO,
          (lambda s, m: _hide(s, m.mT), *NOTHING[1:])),
    Fault("mask_added", "the mask is added to the scores as zeros and ones",
          "What must be added to a score so that its weight becomes 0?", WHO,
          (lambda s, m: s + m, *NOTHING[1:])),
    Fault("mask_multiplied", "the scores are multiplied by the mask, and a score of 0 still gets "
          "weight", "Which weight does softmax give to a score of 0?", WHO,
          (lambda s, m: s * m, *NOTHING[1:])),
    Fault("mask_after_softmax", "weights are set to 0 after softmax, so those that are left no "
          "longer add up to one", "At which step does a hidden key lose its weight?", MASKED,
          (NOTHING[0], lambda w, m: w * m, unchanged)),
    Fault("mask_always_causal", "a causal mask is there in place of the one that is given",
          "What should happen when mask is None?", NO_MASK,
          (NOTHING[0], NOTHING[1], lambda s: _hide(s, _causal(s)))),
    Fault("mask_and_causal", "a causal mask is there besides the one that is given",
          "What should happen when mask is None?", NO_MASK,
          (_hide, NOTHING[1], lambda s: _hide(s, _causal(s))), 3),
))

ADD_UP = "Over which axis must the weights of one token add up to one?"
SOFTMAX = Axis("softmax", lambda s: s.softmax(-1), (
    Fault("softmax_over_queries", "softmax runs over the queries, not over the keys", ADD_UP,
          CONSTANT, lambda s: s.softmax(-2)),
    Fault("softmax_over_heads", "softmax runs over the heads", ADD_UP, CONSTANT,
          lambda s: s.clamp(min=-1e9).softmax(2), 2),
    Fault("softmax_missing", "softmax is missing", ADD_UP, CONSTANT, unchanged),
    Fault("softmax_is_sigmoid", "a sigmoid stands in place of softmax", ADD_UP, CONSTANT,
          torch.sigmoid, 2),
))


def attend(state, divisor, mask, softmax):
    plain = state["q"] @ state["k"].mT / divisor()  # (n, batch, heads, length, length)
    found = []
    for given_mask in given.masks:
        scores = mask[2](plain)
        if given_mask is not None:
            scores = mask[0](scores, given_mask)
        weights = softmax(scores)
        if given_mask is not None:
            weights = mask[1](weights, given_mask)
        found.append(weights @ state["v"])
    return {"heads": torch.cat(found, 1)}  # (n, masks times batch, heads, length, d_k)


# --- the end -----------------------------------------------------------------------------------

def _mixed(t):
    """Heads that were folded into the batch, taken apart as (heads, batch)."""
    one_call = t.unflatten(1, (len(given.masks), -1))  # (n, masks, batch, heads, length, d_k)
    batch, heads = one_call.shape[2:4]
    apart = one_call.flatten(2, 3).unflatten(2, (heads, batch)).transpose(2, 3)
    return apart.flatten(1, 2).transpose(2, 3).flatten(3)


JOIN = "In which order do the axes lie when d_model is put together again?"
MERGE = Axis("merge", lambda t: t.transpose(2, 3).flatten(3), (
    Fault("merge_without_transpose", "the heads are not moved back before the final reshape, which "
          "mixes tokens", JOIN, WHO, lambda t: t.reshape(*t.shape[:2], t.shape[3], -1)),
    Fault("merge_mixes_batch", "heads folded into the batch are taken apart in the wrong order, "
          "which mixes sequences", "After folding heads into the batch, which index runs faster?",
          BATCH_TEST, _mixed, 2),
    Fault("merge_interleaved", "the heads are put together interleaved, as (d_k, heads)", JOIN,
          GROUPS, lambda t: t.permute(0, 1, 3, 4, 2).flatten(3), 2),
))

LAST = "What does Wo do to the heads once they stand side by side, and how often?"
PROJECT = Axis("output", lambda t: _linear(t, "Wo"), (
    Fault("output_missing", "the output projection `Wo` is missing", LAST, OUT, unchanged),
    Fault("output_twice", "the output projection `Wo` is applied twice", LAST, OUT,
          lambda t: _linear(_linear(t, "Wo"), "Wo"), 2),
    Fault("output_without_bias", "`Wo` is used without its bias",
          "What does calling an nn.Linear do beyond multiplying by its weight?", OUT,
          lambda t: t @ given.weights["Wo"].to(t).mT, 2),
    Fault("output_transposed", "`Wo` is used transposed",
          "Which way round does nn.Linear keep its weight?", OUT,
          lambda t: t @ given.weights["Wo"].to(t) + given.biases["Wo"].to(t), 2),
))

RESIDUAL = Axis("residual", lambda y, x: y, (
    Fault("residual", "the input is added to the output (a residual connection)",
          "Is anything added to the result in the formula?", OUT, lambda y, x: y + x),
    Fault("returns_input", "the input is returned", "What becomes of x?", WHOLE,
          lambda y, x: x + 0 * y, 3),
))


def finish(state, merge, output, residual):
    y = output(merge(state["heads"]))
    return {"output": residual(y, given.x.to(y).repeat(len(given.masks), 1, 1))}


GROUPED = Dictionary(
    exercise="grouped_query_attention",
    axes=(ROLES, BIAS, SPLIT, GROUP, DIVIDE, MASK_AXIS, SOFTMAX, MERGE, PROJECT, RESIDUAL),
    steps=(
        Step(("roles", "bias"), project),
        Step(("split", "group"), split),
        Step(("divisor", "mask", "softmax"), attend),
        Step(("merge", "output", "residual"), finish),
    ),
    start=start,
    probe=probe,
    mutate=mutate,
    gross=("returns_input",),
    whole=(WHOLE,),
    budget=3,
)
