"""What attention costs: the known mistakes in counting."""

import torch

from autograder.faults import Axis, Dictionary, Fault, Step

from .context import Context

# fmt: off
# The axes are tables: one fault after the other, without a line for each of its parts.

BERT, LAYERS = "attention_parameters::test_bert", "attention_parameters::test_layers"
SHARED, BIASES = "attention_parameters::test_shared_heads", "attention_parameters::test_biases"
HEADS, WHOLE = "attention_parameters::test_heads", "attention_parameters::test_whole"

# d_model, num_heads, num_kv_heads, num_layers, bias: no two columns alike, all quotients differ.
SIZES = torch.tensor([
    [24, 6, 2, 5, 1], [24, 6, 2, 5, 0], [30, 3, 3, 2, 1], [30, 3, 3, 2, 0], [56, 8, 4, 3, 1],
])
given = Context()


def start(dtype):
    return {"sizes": SIZES.to(dtype)[None]}


def probe(submission):
    counts = []
    for *sizes, bias in SIZES.tolist():
        count = submission.attention_parameters(*sizes, bool(bias))
        counts.append(float(count[0] if isinstance(count, tuple) else count))
    return torch.tensor(counts)


def mutate(run):
    """What a submission would define that counts as `run` does."""

    def attention_parameters(*sizes):
        sizes = torch.tensor([[[float(size) for size in sizes]]], dtype=torch.float64)
        return round(float(run({"sizes": sizes})[0, 0]))

    return {"attention_parameters": attention_parameters}


# Queries and output have equally many weights: a mistake in one looks like one in the other.
SQUARE = "What are the shapes of Wq.weight and Wo.weight, and do they depend on a number of heads?"
SQUARES = Axis("squares", lambda d, h, kv: 2 * d * d, (
    Fault("square_missing", "only one of the queries and the output projection is counted", SQUARE,
          BERT, lambda d, h, kv: d * d),
    Fault("squares_missing", "neither the queries nor the output projection is counted", SQUARE,
          BERT, lambda d, h, kv: 0 * d, 2),
    Fault("squares_shared", "queries and output are counted with num_kv_heads instead of num_heads "
          "heads", SQUARE, SHARED, lambda d, h, kv: 2 * d * kv * d / h, 2),
    Fault("queries_of_one_head", "the queries (or the output) are counted for one head only, "
          "d_model times d_k", SQUARE, HEADS, lambda d, h, kv: d * d + d * d / h),
    Fault("queries_shared", "the queries (or the output) are counted with num_kv_heads instead of "
          "num_heads heads", SQUARE, SHARED, lambda d, h, kv: d * d + d * kv * d / h, 2),
    Fault("queries_of_all_heads", "the queries (or the output) are counted as d_model squared for "
          "each head", SQUARE, HEADS, lambda d, h, kv: d * d + d * d * h, 2),
))

KEYS = "What is the shape of Wk.weight with few key-value heads?"
SHARE = Axis("keys", lambda d, h, kv: 2 * d * kv * d / h, (
    Fault("keys_full", "keys and values are counted with num_heads instead of num_kv_heads heads",
          KEYS, SHARED, lambda d, h, kv: 2 * d * d),
    Fault("keys_or_values_missing", "only one of keys and values is counted", KEYS, BERT,
          lambda d, h, kv: d * kv * d / h),
    Fault("keys_only_shared", "only one of keys and values is counted with num_kv_heads heads, "
          "the other in full", KEYS, SHARED, lambda d, h, kv: d * d + d * kv * d / h),
    Fault("keys_without_d_k", "keys and values are counted as d_model times num_kv_heads, without "
          "d_k", KEYS, SHARED, lambda d, h, kv: 2 * d * kv),
    Fault("keys_by_ratio", "keys and values are counted as d_model squared over num_kv_heads",
          KEYS, SHARED, lambda d, h, kv: 2 * d * d / kv, 2),
    Fault("keys_of_one_head", "keys and values are counted as for a single head", KEYS, SHARED,
          lambda d, h, kv: 2 * d * d / h, 2),
    Fault("keys_from_heads", "keys and values are counted as if each head saw only its d_k "
          "features", KEYS, HEADS, lambda d, h, kv: 2 * kv * (d / h) ** 2, 2),
    Fault("keys_missing", "keys and values are not counted", KEYS, BERT, lambda d, h, kv: 0 * d, 2),
))

PLUS = "How many numbers does each of the four biases have?"
BIAS = Axis("bias", lambda d, d_kv, bias: bias * (2 * d + 2 * d_kv), (
    Fault("bias_never", "biases are never counted", PLUS, BIASES, lambda d, d_kv, bias: 0 * d),
    Fault("bias_always", "biases are always counted", PLUS, BIASES,
          lambda d, d_kv, bias: 2 * d + 2 * d_kv),
    Fault("bias_full", "the biases of keys and values are counted as if they had d_model numbers",
          PLUS, BIASES, lambda d, d_kv, bias: bias * 4 * d),
    Fault("bias_without_output", "the bias of the output projection is not counted", PLUS, BIASES,
          lambda d, d_kv, bias: bias * (d + 2 * d_kv), 2),
    Fault("bias_of_one", "only one bias of d_model numbers is counted", PLUS, BIASES,
          lambda d, d_kv, bias: bias * d, 2),
    Fault("bias_one_number", "each bias is counted as one number", PLUS, BIASES,
          lambda d, d_kv, bias: bias * 4 + 0 * d, 2),
    Fault("bias_inverted", "biases are counted when there are none, and not when there are", PLUS,
          BIASES, lambda d, d_kv, bias: (1 - bias) * (2 * d + 2 * d_kv), 2),
))

MORE = "Which of the things that you count belong to attention?"
OTHER = Axis("other", lambda d: 0 * d, (
    Fault("norm_counted", "a layer norm is counted along", MORE, BERT, lambda d: 2 * d, 2),
    Fault("feed_forward_counted", "the feed-forward layers are counted along", MORE, BERT,
          lambda d: 8 * d * d, 2),
))


def count(state, squares, keys, bias, other):
    d, h, kv, layers, has_bias = state["sizes"].unbind(-1)
    weights = squares(d, h, kv) + keys(d, h, kv)
    return {"layer": weights + other(d), "bias": bias(d, kv * d / h, has_bias), "layers": layers}


HOW_MANY = "How often is each part of your count there in a model of num_layers layers?"
REPEATED = Axis("layers", lambda w, b, n: n * (w + b), (
    Fault("layers_ignored", "only one layer is counted", HOW_MANY, LAYERS, lambda w, b, n: w + b),
    Fault("bias_once", "the biases are counted for one layer only", HOW_MANY, LAYERS,
          lambda w, b, n: n * w + b),
    Fault("layers_plus_one", "one layer too many is counted", HOW_MANY, LAYERS,
          lambda w, b, n: (n + 1) * (w + b), 2),
    Fault("layers_doubled", "every layer is counted twice", HOW_MANY, BERT,
          lambda w, b, n: 2 * n * (w + b), 2),
))


COUNTS = Dictionary(
    exercise="attention_parameters",
    axes=(SQUARES, SHARE, BIAS, OTHER, REPEATED),
    steps=(
        Step(("squares", "keys", "bias", "other"), count),
        Step(("layers",), lambda state, layers: {
            "output": layers(state["layer"], state["bias"], state["layers"])}),
    ),
    start=start,
    probe=probe,
    mutate=mutate,
    whole=(WHOLE,),
    whole_compares_all=False,
    budget=3,
    tolerance=1e-6,
)
