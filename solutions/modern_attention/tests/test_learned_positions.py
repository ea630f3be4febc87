"""Hidden tests of exercise 4, from basic to subtle: each about one mechanism."""

import pytest
import torch
from comparison import distance, require, require_close, require_large, tensor_of
from learned_tables import new_layer, run, with_table
from numbers_from_seed import normal


@pytest.mark.graded(
    points="1.5",
    title="The token at place i gets row i",
    hint="Which row meets which token, and does the batch come into it?",
)
def test_rows(submission):
    """Catches: rows counted from 1, from the end or along the batch, one row for all.

    The rows are numbered in one feature and the tokens are ones, so that how much is added,
    and whether it is added, does not matter: answers must rise evenly with the place.
    """
    table = torch.ones(9, 6)
    table[:, 2] = torch.arange(9.0) + 1
    layer, name = with_table(submission, table, 5)
    if not name:  # charged by the number of parameters, as long as places show at all
        y = run(layer, torch.zeros(1, 5, 6))[0]
        require(distance(y[1:], y[:-1]) > 1e-4, "no place has a row of its own")
        return
    y = run(layer, torch.ones(4, 5, 6))[:, :, 2]  # (batch, length)
    reference = run(with_table(submission, torch.ones(9, 6), 5)[0], torch.ones(4, 5, 6))[:, :, 2]
    double = run(with_table(submission, 2 * torch.ones(9, 6), 5)[0], torch.ones(4, 5, 6))[:, :, 2]
    step = double - reference  # what one more in the table makes of the answer
    require(float(step.abs().min()) > 1e-3, "the table does not reach the answers")
    require_close((y - reference) / step, torch.arange(5.0).expand(4, 5), 2e-5, "the row in use")


@pytest.mark.graded(
    points="1.5",
    title="Tokens and rows are added, both as they are",
    hint="By which operation do they meet, and is either of them multiplied by something?",
)
def test_added(submission):
    """Catches: products, factors on tokens or rows, tokens that are left out, twice the table.

    All rows are alike, so that it does not matter which one is used. A token of zeros is a
    token like any other.
    """
    row, x = normal("one row", 6), normal("added", 4, 5, 6)
    x[1, 2] = 0.0
    layer, name = with_table(submission, row.repeat(9, 1), 5)
    if name:
        require_close(run(layer, x), x + row, 2e-5, "tokens plus a table of equal rows")
    else:
        rows = run(layer, torch.zeros(4, 5, 6))
        require(float(rows.abs().max()) > 1e-4, "nothing is added to the tokens")
        moved = run(layer, x) - rows
        require_close(moved, x, 2e-5, "what the tokens change in the answer")


@pytest.mark.graded(
    points="0.5",
    title="Every length from 1 to max_len is accepted",
    hint="How many rows does the table have, and how many of them do you add?",
)
def test_lengths(submission):
    """Catches: the whole table added to a shorter sequence, a limit that is one too low."""
    layer = new_layer(submission, 7, 6)
    for length in (7, 6, 3, 1):
        try:
            run(layer, normal("lengths", 2, length, 6))
        except NotImplementedError:
            raise
        except Exception as error:
            raise AssertionError(f"max_len is 7, and {length} tokens: {error}") from None


@pytest.mark.graded(
    points="1",
    title="More than max_len tokens are an error, not a wrong answer",
    hint="What does your code do with a token for which no row was trained?",
)
def test_too_long(submission):
    """Catches: rows used again, clamped or left out, tokens cut off. Any exception is right."""
    layer = new_layer(submission, 7, 6)
    run(layer, normal("fits", 2, 7, 6))
    for length in (8, 14):
        try:
            with torch.no_grad():
                layer(normal("too long", 2, length, 6))
        except NotImplementedError:
            raise
        except Exception:
            continue
        raise AssertionError("a sequence longer than max_len gets an answer")


@pytest.mark.graded(
    points="1",
    title="Gradients reach the tokens and the rows in use, and no others",
    hint="Does the table take part in the computation as a parameter, or as a copy of one?",
)
def test_gradients(submission):
    """Catches: `.data`, `detach`, `no_grad`, a row that is taken for padding.

    Tokens on which the answer does not depend are charged elsewhere.
    """
    layer, name = with_table(submission, normal("table of gradients", 9, 6), 5)
    parameters = dict(layer.named_parameters())
    x = normal("gradients", 3, 5, 6)
    given = x.clone()
    with torch.no_grad():
        layer(given)
    if not torch.equal(given, x):
        return  # a leaf that is written into takes no gradient; another test charges it
    depends = distance(run(layer, 2 * x), run(layer, x)) > 1e-3
    x.requires_grad_()
    y = tensor_of(layer(x), (3, 5, 6))
    require(y.requires_grad, "the answer knows neither tokens nor table: no gradient comes back")
    (y * normal("weights of gradients", 3, 5, 6)).sum().backward()
    arrived = 0.0 if x.grad is None else float(x.grad.abs().amax(-1).min())
    if depends:  # tokens or rows that are left out are charged elsewhere
        require_large(arrived, 1e-2, "a token gets no gradient")
    if name and parameters[name].requires_grad:
        require(uses_table(layer, name, x.detach()), "the answer does not depend on the table")
        grad = parameters[name].grad
        require(grad is not None, "the table gets no gradient")
        sizes = grad.reshape(-1, 6).abs().amax(-1)
        reached = sizes > 1e-2
        require(int(reached.sum()) <= 5, "5 tokens, and more than 5 rows get a gradient")
        is_used = uses_table(layer, name, x.detach(), ~reached)
        require(not is_used, "a row that is in use gets no gradient")


def uses_table(layer, name, x, rows=None):
    """Say whether the answer changes with the table, or with some of its rows."""
    state = dict(layer.state_dict())
    before, table = run(layer, x), state[name].clone()
    table.reshape(-1, x.shape[-1])[slice(None) if rows is None else rows] += 0.5
    layer.load_state_dict({**state, name: table})
    after = run(layer, x)
    layer.load_state_dict(state)
    return distance(after, before) > 1e-3


@pytest.mark.graded(
    points="0.5",
    title="The same input always gives the same answer, in training and evaluation mode",
    hint="What in your layer is random, or asks whether it is being trained?",
)
def test_modes(submission):
    """Catches: dropout, tables made anew in `forward`."""
    x = normal("modes", 3, 5, 6)
    layer, _ = with_table(submission, normal("table of modes", 9, 6), 5)
    wanted = run(layer, x)
    require_close(run(layer, x), wanted, 2e-5, "the second answer to one input")
    layer.train()
    for _ in range(2):
        require_close(run(layer, x), wanted, 2e-5, "the answer in training mode")


@pytest.mark.graded(
    points="0.5",
    title="The caller's input is left as it was",
    hint="Does `x += ...` make a new tensor?",
)
def test_input_unchanged(submission):
    """Catches: in-place addition. Right code only reads x."""
    x = normal("unchanged", 3, 5, 6)
    given = x.clone()
    layer, _ = with_table(submission, normal("table", 9, 6), 5)
    with torch.no_grad():
        layer(given)
    require(torch.equal(given, x), "after the call, x is no longer what it was before")


@pytest.mark.graded(
    points="1.5",
    title="The answer is tokens plus rows",
    hint="Take one token: which row of the table is in its answer, and how often?",
)
def test_whole(submission):
    """Catches: whatever changes a number; the tests above say what it is."""
    for batch, length, max_len, d_model in ((3, 5, 9, 6), (2, 7, 7, 4)):
        table, x = normal("whole", max_len, d_model), normal("tokens", batch, length, d_model)
        layer, name = with_table(submission, table, length)
        require(name, "there is no table that could be trained in the layer")
        require_close(run(layer, x), x + table[:length], 2e-5, "tokens plus rows")
