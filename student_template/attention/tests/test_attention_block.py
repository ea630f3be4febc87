"""Public tests of exercise 3, from basic to subtle."""

import math

import pytest
import torch
from block_probes import EVEN, implied_ratio, passed_on, places_apart, unevenness
from block_weights import (
    BATCH,
    D_K,
    D_MODEL,
    LENGTH,
    TOKENS,
    VOCAB_SIZE,
    build,
    new_block,
    numbers,
    run,
    working,
)
from comparison import is_small, require, require_form, require_large


@pytest.mark.graded(
    points="2",
    title="The block returns one float32 tensor of shape (batch, length, d_model)",
    hint="What exactly does `forward` return, and what does the attention that it calls return?",
)
def test_form(submission):
    """Catches: a tuple, attention weights, another dtype, pooled or squeezed axes.

    Only kind, dtype and shape are looked at, which every right block has. Batches and
    sequences of 1 are in the contract.
    """
    table = numbers(1, VOCAB_SIZE, D_MODEL)
    for batch, length in ((BATCH, LENGTH), (1, 3), (2, 1)):
        _, result = working(submission, table, TOKENS[:length].repeat(batch, 1))
        what = f"the output for token_ids of shape {(batch, length)}"
        require_form(result, (batch, length, D_MODEL), what)


@pytest.mark.graded(
    points="2",
    title="AttentionBlock(10000, 128, 4) has 1,346,048 parameters that can be trained",
    hint="An embedding and four projections with bias: what else is being trained, or is not?",
)
def test_parameter_count(submission):
    """Catches: a trained encoding, a learned scale, extra layers, dropped biases, sizes swapped.

    Counts what can be trained: vocab_size d_model + 4 (d_model^2 + d_model), in which
    `max_len` does not occur. Buffers and frozen parameters are free.
    """
    for sizes in ((10000, 128, 4, 512), (31, 20, 2, 50), (31, 20, 2, 7), (9, 12, 3, 13)):
        vocab_size, d_model, _, max_len = sizes
        block = new_block(submission, *sizes)
        count = sum(p.numel() for p in block.parameters() if p.requires_grad)
        expected = vocab_size * d_model + 4 * (d_model**2 + d_model)
        table = " (as many more as a table of positions has)" * (
            count - expected == max_len * d_model
        )
        require(
            count == expected,
            f"AttentionBlock{sizes} has {count:,} parameters that can be trained{table}; "
            f"expected {expected:,}",
        )


@pytest.mark.graded(
    points="1",
    title="Every length from 1 to max_len is accepted",
    hint="How many rows does your table of positions have, and how many of them do you add?",
)
def test_lengths(submission):
    """Catches: the whole table added to a shorter sequence, a table that is one row short.

    Values are not looked at.
    """
    block = build(submission, numbers(2, VOCAB_SIZE, D_MODEL), 7)
    for length in (7, 6, 3, 1):
        try:
            run(block, torch.arange(2 * length).reshape(2, length) + 1)
        except NotImplementedError:
            raise
        except Exception as error:
            raise AssertionError(
                f"with max_len = 7, sequences of {length} are not accepted: {error}"
            ) from None


@pytest.mark.graded(
    points="3",
    title="The same token at two places gets two different answers",
    hint="Where do the positions enter, and along which axis do they differ?",
)
def test_positions(submission):
    """Catches: no positions at all, or positions that differ along the batch.

    Tokens 0 and 1 are the same, tokens 2 and 3 are others. How positions enter is left to
    other tests. The two answers of a right block are far apart.
    """
    require_large(
        places_apart(submission, TOKENS[[0, 0, 1, 2]]),
        1.5e-3,
        "a token at place 0 and the same token at place 1 get the same answer: "
        "positions are missing, or do not run along the length",
    )


@pytest.mark.graded(
    points="2",
    title="Embedding and encoding are added, both exactly once and unscaled",
    hint="What happens to the embedding between lookup and addition, and to the encoding?",
)
def test_amounts(submission):
    """Catches: the embedding times sqrt(d_model), positions added twice or subtracted.

    The embeddings are chosen so that token plus encoding is the same vector everywhere:
    then all answers of a right block are equal, whatever its attention does. If they are
    not, other amounts are tried. Blocks without positions, or with those of other places,
    are charged elsewhere.
    """
    if is_small(unevenness(submission, 1.0), EVEN):
        return
    ratio = implied_ratio(submission)
    if ratio is None or ratio in (0, 1):
        return
    embedding = float(passed_on(submission, 0.5).median()) / 0.5
    amounts = (("embedding", embedding), ("encoding", ratio * embedding))
    said = [f"your {name} is {n_times(n)}" for name, n in amounts if abs(n - 1) > 1e-2]
    raise AssertionError(f"{' and '.join(said)}; expected their sum, both as they are")


def n_times(factor):
    """Say what something is multiplied by, and where that may come from."""
    names = {
        "sqrt(d_model)": math.sqrt(D_MODEL),
        "1 / sqrt(d_model)": 1 / math.sqrt(D_MODEL),
        "sqrt(d_k)": math.sqrt(D_K),
        "d_model": D_MODEL,
    }
    origin = [f" = {name}" for name, n in names.items() if abs(factor / n - 1) < 1e-2]
    counted = {2: "added twice", 3: "added three times", -1: "subtracted"}
    if round(factor, 2) in counted:
        return counted[round(factor, 2)]
    return f"multiplied by {factor:.3g}{''.join(origin)}"
