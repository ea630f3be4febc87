"""Hidden tests of exercise 1, from basic to subtle: each about one mechanism."""

import math

import pytest
import torch
from answers import matrix_of
from comparison import distance, require, require_close, require_small
from oracles import encoding, frequency


@pytest.mark.graded(
    points="1",
    title="The matrix is a rotation: it changes no length",
    hint="Which of the four numbers of a block has a minus, and why only that one?",
)
def test_rotation(submission):
    """Catches: a missing minus, numbers that are scaled. M M^T is the identity for any angles,
    pairs and directions.
    """
    for k, d_model in ((3, 8), (-2, 6)):
        matrix = matrix_of(submission, k, d_model)
        require(distance(matrix, torch.eye(d_model)) > 0.1, "nothing turns")
        require_close(matrix @ matrix.T, torch.eye(d_model), 2e-5, "M times M transposed")


@pytest.mark.graded(
    points="1.5",
    title="Each pair of features turns by itself",
    hint="Which two features share a frequency, and which entries of the matrix join them?",
)
def test_blocks(submission):
    """Catches: sines in the first half and cosines in the second; matrices fitted to a table.

    Only the places outside the 2x2 blocks along the diagonal are looked at.
    """
    for k, d_model in ((3, 8), (5, 6)):
        pair = torch.arange(d_model) // 2
        matrix = matrix_of(submission, k, d_model)
        outside = (pair[:, None] != pair) * matrix
        require(distance(matrix - outside, torch.eye(d_model)) > 0.1, "in the blocks nothing turns")
        most = float(outside.abs().max())
        require_small(most, 1e-5, f"outside the blocks there are numbers up to {most:.3g}")


@pytest.mark.graded(
    points="1.5",
    title="Pair i turns by k / 10000^(2 i / d_model)",
    hint="How does the exponent grow from one pair to the next, and what is it for pair 0?",
)
def test_frequency(submission):
    """Catches: another exponent or base, degrees.

    On the diagonal there are cosines, whatever the direction. The offset is chosen so that the
    pair turns by about 1.5. Pairs may also be half a matrix apart.
    """
    gaps = []
    for d_model, pair in ((4, 0), (4, 1), (6, 1), (8, 1)):
        angle = frequency(pair, d_model)
        k = round(1.5 / angle)
        diagonal = matrix_of(submission, k, d_model).diagonal()
        places = ((2 * pair, 2 * pair + 1), (pair, pair + d_model // 2))
        gap = min(float((diagonal[list(two)] - math.cos(k * angle)).abs().max()) for two in places)
        gaps.append((gap, f"d_model = {d_model}: pair {pair} does not turn by k times {angle:.4g}"))
    gap, message = max(gaps)
    require_small(gap, 4e-5, message)


@pytest.mark.graded(
    points="1",
    title="A positive offset goes forward",
    hint="Work it out for d_model = 2: which vector must (0, 1) become for k = 1?",
)
def test_direction(submission):
    """Catches: the matrix transposed, or a minus at the wrong sine.

    With one pair there is one frequency and one way to pair.
    """
    matrix = matrix_of(submission, 1, 2)
    forward = float(matrix[0, 1] - matrix[1, 0])
    require(forward > -0.5, "for k = 1 the matrix turns back by one position")
    require(forward > 0.5, "for k = 1 the matrix does not turn forward")


@pytest.mark.graded(
    points="1",
    title="Two offsets after each other are one offset of their sum",
    hint="What do angles do when one turn follows another, and what is a negative offset?",
)
def test_steps(submission):
    """Catches: the sign of k lost, k in another power, k that does not matter.

    Holds for any frequencies and directions; with a single pair none of them is extreme.
    """
    for first, second in ((2, 3), (4, -4), (-1, -2), (6, -2)):
        both = matrix_of(submission, first, 2) @ matrix_of(submission, second, 2)
        wanted = matrix_of(submission, first + second, 2)
        require(distance(both, matrix_of(submission, first, 2)) > 0.1, "the offset changes nothing")
        what = f"M({first}) M({second}), against M({first + second}),"
        require_close(both, wanted, 1e-5, what)


@pytest.mark.graded(
    points="2",
    title="Every position is carried to the one k further on",
    hint="Take one pair and one k: which of its four numbers are right?",
)
def test_whole(submission):
    """Catches: whatever changes a number; the tests above say what it is.

    The table is worked out in float64, number by number, and goes to position 60.
    """
    for k, d_model in ((5, 12), (-3, 8), (17, 6)):
        table = encoding(61, d_model).float()
        start, end = (table[:-k], table[k:]) if k > 0 else (table[-k:], table[:k])
        arrived = start @ matrix_of(submission, k, d_model).T
        require_close(arrived, end, 1e-4, f"the encoding, moved on by {k},")
