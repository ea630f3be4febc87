"""Public tests of exercise 4, from basic to subtle."""

import pytest
import torch
from comparison import require, require_form, require_large
from learned_tables import new_layer, numbers, run, with_table


@pytest.mark.graded(
    points="1",
    title="The layer returns one float32 tensor of the shape of its input",
    hint="What exactly does `forward` return: the tokens with their places, or the table?",
)
def test_form(submission):
    """Catches: the table returned alone, features joined in place of added, a tuple.

    Only kind, dtype and shape are looked at. Batches and sequences of 1 are in the contract.
    """
    with torch.no_grad():
        for batch, length in ((2, 9), (4, 5), (1, 3), (3, 1)):
            layer = new_layer(submission, length, 6)
            what = f"the output for x of shape {(batch, length, 6)}"
            require_form(layer(numbers(batch, length, 6)), (batch, length, 6), what)


@pytest.mark.graded(
    points="1.5",
    title="max_len times d_model parameters can be trained: 393,216 for 512 times 768",
    hint="A row for each place: where is it kept so that an optimiser finds it, and what else is?",
)
def test_parameter_count(submission):
    """Catches: a table that nobody trains, a fixed encoding, extra layers, rows too many."""
    for max_len, d_model in ((512, 768), (11, 6), (5, 20)):
        layer = new_layer(submission, max_len, d_model)
        count = sum(p.numel() for p in layer.parameters() if p.requires_grad)
        require(
            count == max_len * d_model,
            f"LearnedPositions({max_len}, {d_model}) has {count:,} parameters that can be "
            f"trained; expected {max_len * d_model:,}",
        )


@pytest.mark.graded(
    points="1.5",
    title="The same token at two places gets two different answers",
    hint="What differs between two places, and along which axis of the table?",
)
def test_places(submission):
    """Catches: no positions, one row for all places. A right table differs in every row.

    The table is chosen here, so that a layer that starts with zeros shows its places, too.
    """
    layer, name = with_table(submission, numbers(11, 6), 7)
    y = run(layer, numbers(1, 1, 6).repeat(2, 7, 1))
    gaps = (y[0, :, None] - y[0]).abs().amax(-1) + 10 * torch.eye(7)
    what = "one token, repeated: two answers are the same"
    if name:
        require_large(float(gaps.min()), 0.05, what)
    else:  # whatever stands in the layer instead, as small as it may be
        require(float(gaps.min()) > 1e-4, what)
