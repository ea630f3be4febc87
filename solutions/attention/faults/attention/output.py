"""The output projection, and what comes after it."""

import torch
import torch.nn.functional as F

from autograder.faults import Axis, Fault, unchanged

from .. import graded
from .given import NAMES, given
from .heads import SHAPE
from .projections import layer_norm, linear

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

def _wo(name):
    return lambda t, w, b: linear(t, given.weights[name].to(t), given.biases[name].to(t))


OUT = "What does Wo do to the heads once they stand side by side, and how often?"
OUTPUT = Axis("output", linear, (
    Fault("output_missing", "the output projection `Wo` is missing", OUT, graded.OUTPUT_PROJECTION,
          lambda t, w, b: t),
    Fault("output_twice", "the output projection `Wo` is applied twice", OUT,
          graded.OUTPUT_PROJECTION, lambda t, w, b: linear(linear(t, w, b), w, b), 2),
    Fault("output_per_head", "`Wo` is applied to each head and the results are added, so its bias "
          "counts num_heads times", OUT, graded.OUTPUT_PROJECTION,
          lambda t, w, b: linear(t, w, given.heads * b), 2),
    Fault("output_without_bias", "`Wo` is used without its bias",
          "What does calling an nn.Linear do beyond multiplying by its weight?",
          graded.OUTPUT_PROJECTION, lambda t, w, b: t @ w.mT, 2),
    Fault("output_transposed", "`Wo` is used transposed",
          "Which way round does nn.Linear keep its weight?", graded.OUTPUT_PROJECTION,
          lambda t, w, b: t @ w + b, 2),
    Fault("output_transposed_without_bias", "`Wo` is used transposed and without its bias",
          "What does calling an nn.Linear compute, written out?", graded.OUTPUT_PROJECTION,
          lambda t, w, b: t @ w, 3),
    Fault("output_after_relu", "the heads go through a ReLU before `Wo`",
          "Is there a non-linearity in the formula besides softmax?", graded.WHOLE,
          lambda t, w, b: linear(t.relu(), w, b), 3),
    *(Fault(f"output_from_{name.lower()}", f"`{name}` makes the output in place of `Wo`", OUT,
            graded.OUTPUT_PROJECTION, _wo(name), 3) for name in NAMES[:3]),
))


def project_output(state, use):
    merged = state["merged"]
    if use is not OUTPUT.faults[0].does and merged.shape[-1] != given.d_model:
        # One head's worth of features: repeated, as is needed for Wo to take it.
        merged = merged.repeat(1, 1, 1, given.d_model // merged.shape[-1])
    return {"query": state["query"],
            "projected": use(merged, given.weights["Wo"].to(merged), given.biases["Wo"].to(merged))}


ADDED = "Is anything added to the result in the formula?"
RESIDUAL = Axis("residual", lambda out, query: out, (
    Fault("residual", "the input is added to the output (a residual connection)", ADDED,
          graded.OUTPUT_PROJECTION, lambda out, query: out + given.x.to(out)),
    Fault("residual_of_queries", "the projected queries are added to the output", ADDED,
          graded.CONSTANT_VALUES, lambda out, query: out + query, 2),
    Fault("residual_twice", "the input is added to the output twice", ADDED,
          graded.OUTPUT_PROJECTION, lambda out, query: out + 2 * given.x.to(out), 4),
    Fault("returns_input", "the input is returned", "What becomes of x?", graded.WHOLE,
          lambda out, query: given.x.to(out).expand_as(out), 4),
))


LAST = "What comes after Wo in the formula?"
FINISH = Axis("finish", unchanged, (
    Fault("finish_normalised", "the output goes through a layer norm", LAST,
          graded.OUTPUT_PROJECTION, layer_norm, 2),
    Fault("finish_relu", "the output goes through a ReLU", LAST, graded.OUTPUT_PROJECTION,
          torch.relu, 2),
    Fault("finish_tanh", "the output goes through tanh", LAST, graded.OUTPUT_PROJECTION,
          torch.tanh, 3),
    Fault("finish_gelu", "the output goes through a GELU", LAST, graded.OUTPUT_PROJECTION,
          F.gelu, 3),
    Fault("finish_softmax", "the output goes through softmax", LAST, graded.OUTPUT_PROJECTION,
          lambda t: t.softmax(-1), 3),
    Fault("finish_mean", "the output is averaged over the tokens",
          SHAPE, graded.FORM, lambda t: t.mean(-2), 3),
    Fault("finish_last", "only the last token is returned", SHAPE, graded.FORM,
          lambda t: t[..., -1, :], 3),
    Fault("finish_length_first", "batch and length are exchanged in the output", SHAPE,
          graded.FORM, lambda t: t.transpose(1, 2), 3),
))


def finish(state, residual, last):
    projected = state["projected"]
    if projected.shape[1:] == state["query"].shape[1:]:
        projected = residual(projected, state["query"])
    return {"output": last(projected)}
