"""Public tests of exercise 1, from basic to subtle."""

import pytest
import torch
from answers import matrix_of
from comparison import require_close, require_form


@pytest.mark.graded(
    points="1",
    title="The matrix is one float32 tensor of shape (d_model, d_model)",
    hint="How many numbers go in, how many come out, and in which dtype?",
)
def test_form(submission):
    """Catches: a 2x2 block alone, blocks along an axis of their own, float64, a NumPy array.

    Only kind, dtype and shape are looked at. Any integer k is in the contract.
    """
    for k, d_model in ((3, 8), (-4, 6), (0, 12), (1, 2)):
        matrix = submission.relative_offset(k, d_model)
        require_form(matrix, (d_model, d_model), f"relative_offset({k}, {d_model})")


@pytest.mark.graded(
    points="1",
    title="An offset of 0 changes nothing: the identity matrix",
    hint="What are cos(0) and sin(0), and where does each of them stand?",
)
def test_zero(submission):
    """Catches: offsets counted from 1, sine and cosine exchanged, an empty matrix.

    At k = 0 every angle is 0, whatever the frequencies, signs and pairs.
    """
    for d_model in (8, 6):
        require_close(matrix_of(submission, 0, d_model), torch.eye(d_model), 1e-5, "the matrix")


@pytest.mark.graded(
    points="2",
    title="It carries row 0 of the encoding to row 7",
    hint="Multiply it with 0, 1, 0, 1, ... by hand: which entries of a row are added up?",
)
def test_carries(submission):
    """Catches: whatever changes a number in the columns of the cosines.

    Row 0 is 0, 1, 0, 1, ..., and row 7 begins as printed, by a pocket calculator.
    """
    row = torch.tensor([0.0, 1.0]).repeat(32)
    arrived = matrix_of(submission, 7, 64) @ row
    wanted = torch.tensor([0.6570, 0.7539, -0.8593, 0.5114, -0.7137, -0.7004])
    require_close(arrived[:6], wanted, 1.1e-4, "row 7 of the encoding")
