"""Hidden tests of exercise 2, from basic to subtle: each about one mechanism.

Every test is built so that a table with another fault, but not this one, passes it.
"""

import ast
import math
from pathlib import Path

import pytest
import torch
from comparison import (
    distance,
    require,
    require_close,
    require_large,
    require_small,
    tensor_of,
)
from inputs import normal
from tables import table_of

FILE = "positional_encoding.py"
GIVEN = "EmbeddingWithPE"
BASE = 10000.0
TURNS = 8e-3
"""A column that misses a frequency by less than this has it."""


def frequencies(d_model):
    """Return what a pair turns by from one position to the next, fastest first."""
    return [BASE ** (-2 * pair / d_model) for pair in range(d_model // 2)]


def encoding(max_len, d_model):
    """Return the table of the handout, worked out in float64: (max_len, d_model) float32."""
    angles = torch.outer(
        torch.arange(max_len, dtype=torch.float64),
        torch.tensor(frequencies(d_model), dtype=torch.float64),
    )
    return torch.stack((angles.sin(), angles.cos()), dim=-1).reshape(max_len, d_model).float()


def misses(column, frequency):
    """Return how far a column is from a wave of this frequency, whatever its phase and height,
    in parts of that height.

    A wave obeys T[p + k] + T[p - k] = 2 cos(k frequency) T[p] for all p and k. Looked at where
    k frequency is 1 to 2, and at k = 1; row 0 is left out.
    """
    lag = round(1.5 / frequency)
    height = float(column[: 2 * lag + 6].abs().max())
    if height < 1e-5:
        return math.inf
    gaps = []
    for k in (1, lag):
        middle = torch.arange(k + 1, k + 5)
        gap = column[middle + k] + column[middle - k] - 2 * math.cos(k * frequency) * column[middle]
        gaps.append(float(gap.abs().max()))
    return max(gaps) / height


def is_wave(column):
    """Say whether the first rows of a column are a wave of some frequency; row 0 is left out."""
    middle = column[2:39]
    sums = column[3:40] + column[1:38]
    factor = float(sums @ middle) / max(float(middle @ middle), 1e-12)
    return float((sums - factor * middle).abs().max()) < 0.05


def depends_on_max_len(submission, d_model):
    """Say whether two tables of waves differ that should begin alike: charged by `test_prefix`."""
    short, long = table_of(submission, 60, d_model), table_of(submission, 90, d_model)
    waves = [is_wave(table[:, 0]) for table in (short, long)]
    return all(waves) and distance(short, long[:60]) > 1e-3


@pytest.mark.graded(
    points="3",
    title="Positions are counted from 0, and row 0 is 0, 1, 0, 1, ...",
    hint="Which position does row 0 stand for, and what is cos(0)?",
)
def test_position(submission):
    """Catches: positions from 1, row 0 cleared as padding.

    At angle 0 every sine is 0 and every cosine 1, whatever the frequencies and in whatever
    order they stand; only these two numbers are asked for. A row of zeros is right when it
    continues what the next rows do (sines everywhere), wrong when it was cleared.
    """
    if depends_on_max_len(submission, 12):
        return
    table = table_of(submission, 50, 12)
    first = table[0].abs()
    away = torch.minimum(first, (first - 1).abs())
    require_small(
        float(away.max()),
        1e-5,
        f"row 0 has {float(table[0, int(away.argmax())]):.4f} in it; at position 0 there is "
        "nothing but 0 and 1",
    )
    if float(first.max()) < 1e-4:
        continued = (table[0] + table[2]) * table[2] - (table[1] + table[3]) * table[1]
        require(float(continued.abs().max()) < 1e-3, "row 0 is all zeros; cos(0) is not")


@pytest.mark.graded(
    points="5",
    title="Pair i turns by 10000^(-2 i / d_model) from one position to the next",
    hint="How does the exponent grow from one pair to the next, and what is it for pair 0?",
)
def test_frequency(submission):
    """Catches: another exponent or base, frequencies upside down or all alike, degrees.

    Only even columns are looked at, so odd ones with frequencies of their own are left to the
    test about pairs. Phase, sign and order of sine and cosine cancel, and so does a table in
    halves. A frequency that depends on max_len has a test of its own.
    """
    if depends_on_max_len(submission, 8):
        return
    gaps = []
    for max_len, d_model in ((3100, 8), (1500, 6)):
        table, wanted = table_of(submission, max_len, d_model), frequencies(d_model)
        halves = max(
            misses(table[:, pair + shift], frequency)
            for pair, frequency in enumerate(wanted)
            for shift in (0, d_model // 2)
        )
        for pair, frequency in enumerate(wanted):
            gap = min(halves, misses(table[:, 2 * pair], frequency))
            where = f"d_model = {d_model}: column {2 * pair} does not turn by {frequency:.4g}"
            gaps.append((gap, where))
    gap, where = max(gaps)
    require_small(gap, TURNS, f"{where} from one position to the next", spared=3e-3)


@pytest.mark.graded(
    points="3",
    title="Sine and cosine alternate, sine first",
    hint="Which columns hold sines: every second one from 0, or another choice?",
)
def test_layout(submission):
    """Catches: all sines before all cosines, cosine before sine, sines turned upside down.

    Even columns must be sines: all zero at one position. Usually that is row 0; where
    positions start at 1 it is the row before, continued from the next ones; where they are
    centred it is another row. Odd columns are left to the test about pairs.
    """
    even = table_of(submission, 51, 12)[:, 0::2]
    safe = torch.where(even[1].abs() < 1e-9, torch.ones(6), even[1])
    before = (even[0] + even[2]) / safe * even[0] - even[1]
    rows = torch.cat((before[None], even))
    zero = rows.abs().amax(1) < 1e-3
    require_small(
        float(rows.abs().amax(1).min()),
        1.5e-5,
        "columns 0, 2, 4, ... are not all zero at position 0: they are not all sines",
    )
    require(
        bool((rows[1:][zero[:-1]] > 0).any()) or not bool(zero[:-1].any()),
        "columns 0, 2, 4, ... all fall from position 0 on; a sine rises",
    )


@pytest.mark.graded(
    points="2",
    title="A longer table begins with the shorter one",
    hint="Where does max_len come into a row, other than in how many there are?",
)
def test_prefix(submission):
    """Catches: max_len in place of d_model, positions divided by max_len or centred.

    A row of the contract depends on its position alone. Both tables are the student's.
    """
    short, long = table_of(submission, 20, 12), table_of(submission, 33, 12)
    require_close(long[:20], short, 1e-5, "the beginning of the longer table")


@pytest.mark.graded(
    points="1",
    title="Far rows are as exact as near ones: a fixed distance is a fixed rotation",
    hint="In which dtype are positions and angles computed, and how large do they get?",
)
def test_far_rows(submission):
    """Catches: tables computed in half precision, positions that wrap around or drift.

    T[p + k] + T[p - k] is a fixed multiple of T[p]; the multiple is fitted. Sums of three
    honest float32 sines are off by less than 2e-4 below position 512 and 2e-3 below 5000.
    Columns whose frequency is wrong are only asked to be waves, at the start.
    """
    d_model = 8
    table = table_of(submission, 5000, d_model)
    for pair, frequency in enumerate(frequencies(d_model)):
        column = table[:, 2 * pair]
        if misses(column, frequency) > TURNS:
            require(is_wave(column), f"column {2 * pair} is not a wave")
            continue
        for end, lag, tolerance in ((512, 100, 1e-3), (5000, 1000, 5e-3)):
            middle = column[lag + 1 : end - lag]
            sums = column[2 * lag + 1 : end] + column[1 : end - 2 * lag]
            factor = (sums.double() @ middle.double()) / (middle.double() @ middle.double())
            require_close(sums, factor.float() * middle, tolerance, f"column {2 * pair}, far out,")


@pytest.mark.graded(
    points="0.5",
    title="Every number is within 1e-4 of the formula up to position 512, however wide the table",
    hint="Is the base exactly 10000, and does every column get its wave?",
)
def test_exact(submission):
    """Catches: a base that is nearly right, columns of a wide table left out.

    Honest float32 forms are off by up to 5e-5 there. A table that does not begin as the
    handout prints it is charged by the tests about what is wrong with it.
    """
    printed = [0, 1, 7]  # rows of the handout
    begun = table_of(submission, 50, 64)[printed, :6], encoding(50, 64)[printed, :6]
    if distance(*begun) > 1.1e-4:
        return
    for max_len, d_model in ((513, 10), (513, 32), (9, 600)):
        wanted = encoding(max_len, d_model)
        require_close(table_of(submission, max_len, d_model), wanted, 1.2e-4, "the table")


@pytest.mark.graded(
    points="0.5",
    title="No two positions have the same row",
    hint="Along which axis does your table change?",
)
def test_distinct_rows(submission):
    """Catches: constant or empty tables, positions along the wrong axis.

    Neighbouring rows of a right table are at least 0.5 apart.
    """
    table = table_of(submission, 300, 16)
    gaps = torch.cdist(table, table) + 10 * torch.eye(300)
    require_large(float(gaps.min()), 1e-4, "two positions have the same row", spared=3e-3)


@pytest.mark.graded(
    points="0.5",
    title="Nothing in the encoding can be trained",
    hint="What is a sine of a fixed number, and does it need a gradient?",
)
def test_fixed(submission):
    """Catches: `nn.Embedding` or `nn.Parameter` in place of a computed table."""
    result = submission.positional_encoding(9, 12)
    parts = result if isinstance(result, (tuple, list)) else [result]
    trained = [part for part in parts if isinstance(part, torch.Tensor) and part.requires_grad]
    require(not trained, "the encoding asks for gradients: it would be trained")


@pytest.mark.graded(
    points="0.5",
    title="Every call computes the table that it is asked for",
    hint="Does your function keep something from an earlier call?",
)
def test_second_call(submission):
    """Catches: a table remembered from another call, random numbers."""
    first = table_of(submission, 9, 12).clone()
    other = table_of(submission, 14, 6)
    require(tuple(other.shape) == (14, 6), "a second call gives another shape than asked for")
    require_close(table_of(submission, 9, 12), first, 1e-5, "the same call, made again,")


@pytest.mark.graded(
    points="1",
    title="EmbeddingWithPE is as it was given",
    hint="Which line of the given class has changed?",
)
def test_embedding(submission):
    """Catches: a changed class: positions scaled, left out, twice, along the batch.

    A class whose text is the given one passes whatever the encoding is like. Any other must
    give embedding plus the student's own encoding, once.
    """
    batch, length, d_model, vocab_size = 3, 5, 8, 11
    table_of(submission, 9, d_model)  # an encoding that is not written yet is not judged
    if same_class(submission.sources.get(FILE, "")):
        return
    table = table_of(submission, 9, d_model)
    layer = submission.EmbeddingWithPE(vocab_size, d_model, 9)
    state = dict(layer.state_dict())
    require("emb.weight" in state, "there is no embedding emb any more")
    state["emb.weight"] = normal("embedding", vocab_size, d_model)
    layer.load_state_dict(state)
    layer.eval()
    tokens = torch.tensor([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [0, 8, 9, 7, 10]])
    with torch.no_grad():
        result = layer(tokens)
    wanted = state["emb.weight"][tokens] + table[:length]
    got = tensor_of(result, (batch, length, d_model), "the embedding")
    require_close(got, wanted, 3e-5, "the embedding with positions")


def same_class(source):
    """Say whether `source` holds the given class, comments and layout apart."""
    given = (Path(__file__).resolve().parent.parent / FILE).read_text(encoding="utf-8")
    try:
        trees = [ast.parse(text) for text in (source, given)]
    except (SyntaxError, ValueError):
        return False
    dumps = []
    for tree in trees:
        classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == GIVEN]
        dumps.append([ast.dump(strip_docstrings(node)) for node in classes])
    return dumps[0] == dumps[1]


def strip_docstrings(tree):
    """Remove docstrings and annotations, which do nothing."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in node.args.args:
                argument.annotation = None
    return tree
