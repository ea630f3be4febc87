"""Hidden tests of exercise 6, from basic to subtle: each about one mechanism."""

import pytest
from answers import count_of
from comparison import require


@pytest.mark.graded(
    points="2",
    title="Fewer key-value heads make keys and values smaller, and nothing else",
    hint="Which two of the four projections shrink, and to how many features?",
)
def test_shared_heads(submission):
    """Catches: the number of key-value heads left out or applied to the wrong projections.

    The difference between two counts: what else is counted along cancels.
    """
    for d_model, num_heads, few, num_layers in ((24, 6, 2, 3), (40, 10, 5, 2), (36, 12, 1, 4)):
        full = count_of(submission, d_model, num_heads, num_heads, num_layers, False)
        less = count_of(submission, d_model, num_heads, few, num_layers, False)
        spared = num_layers * 2 * d_model * (num_heads - few) * (d_model // num_heads)
        require(
            full - less == spared,
            f"{few} in place of {num_heads} key-value heads should spare {spared:,} parameters "
            f"here, not {full - less:,}",
        )


@pytest.mark.graded(
    points="1",
    title="Biases count once for each feature that a projection makes",
    hint="How many numbers has the bias of Wk when there are few key-value heads?",
)
def test_biases(submission):
    """Catches: biases that are always or never counted, biases of full size for keys and values.

    The difference between counts with and without: what else is counted along cancels.
    """
    for d_model, num_heads, few, num_layers in ((24, 6, 2, 3), (40, 10, 10, 2), (36, 12, 1, 4)):
        sizes = (d_model, num_heads, few, num_layers)
        extra = count_of(submission, *sizes, True) - count_of(submission, *sizes, False)
        wanted = num_layers * (2 * d_model + 2 * few * (d_model // num_heads))
        require(extra == wanted, f"biases should add {wanted:,} parameters here, not {extra:,}")


@pytest.mark.graded(
    points="1",
    title="In multi-head attention the number of heads costs nothing",
    hint="Sixteen heads of 4 features, four heads of 16: whose projections are larger?",
)
def test_heads(submission):
    """Catches: d_model^2 for each head, d_k^2 in place of d_model d_k."""
    counts = {heads: count_of(submission, 24, heads, heads, 3, False) for heads in (2, 3, 6, 12)}
    require(counts[2] > 0, "there is nothing to count")
    require(
        len(set(counts.values())) == 1,
        f"with as many key-value heads as heads you count {counts}, by the number of heads",
    )


@pytest.mark.graded(
    points="2",
    title="GPT-2 small, GPT-3 175B and Llama-3-8B are counted to the last digit",
    hint="Write one layer out: four weights and, with biases, four biases.",
)
def test_whole(submission):
    """Catches: whatever changes a count; the tests above say what it is."""
    for name, sizes, wanted in (
        ("GPT-2 small", (768, 12, 12, 12, True), 28_348_416),
        ("GPT-3 175B", (12288, 96, 96, 96, True), 57_986_777_088),
        ("Llama-3-8B", (4096, 32, 8, 32, False), 1_342_177_280),
        ("a small model", (30, 6, 2, 5, True), 12_400),
        ("another small model", (30, 6, 3, 4, False), 10_800),
    ):
        count = count_of(submission, *sizes)
        require(count == wanted, f"{name}: you count {count:,}; expected {wanted:,}")
