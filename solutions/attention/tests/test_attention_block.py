"""Hidden tests of exercise 3, from basic to subtle: each about one mechanism.

Most need no knowledge of the attention. They are built so that a block with another fault,
but not this one, passes; what a test lets through is charged by the test that is named.
"""

import math

import pytest
import torch
from block_probes import (
    APART,
    EVEN,
    implied_ratio,
    passed_on,
    places_apart,
    places_differ,
    unevenness,
)
from block_readings import attend, readings
from block_weights import (
    BATCH,
    D_MODEL,
    LENGTH,
    NUM_HEADS,
    TOKENS,
    VOCAB_SIZE,
    answer,
    build,
    build_known,
    encoding,
    know,
    new_block,
    run,
    seen,
    working,
)
from comparison import distance, is_large, is_small, require, require_close
from inputs import SEED, normal


@pytest.mark.graded(
    points="2.5",
    title="Every token sees every token of its sequence",
    hint="Which tokens can change the answer of the first one, and which that of the last?",
)
def test_attention(submission):
    """Catches: attention missing, a causal mask or another one that nobody asked for.

    One token after the other is exchanged: every answer must move. All sequences of a batch
    are equal, and numbers are small, so that no token is out of sight of another. A block
    that attends along the batch is charged by the test about that.
    """
    table, tokens = 0.3 * normal("seen", VOCAB_SIZE, D_MODEL), TOKENS.repeat(2, 1)

    def ask(tokens):
        return answer(submission, table, tokens, gain=0.5, seed=SEED)

    before, moved = ask(tokens), []
    for place in range(LENGTH):
        other = tokens.clone()
        other[:, place] = 23
        moved.append((ask(other) - before).abs().amax((0, 2)))
    least = 3e-4
    unmoved = torch.stack(moved) < least  # (exchanged token, token)
    if is_large(float(torch.stack(moved).min()), least):
        return
    neighbour = tokens.clone()
    neighbour[1] = torch.tensor([8, 23, 3, 19])
    along_batch = distance(ask(neighbour)[0], before[0]) > least
    only_own = bool((unmoved | torch.eye(LENGTH, dtype=torch.bool)).all())
    require(along_batch and only_own, "some tokens can be exchanged without changing some answers")


@pytest.mark.graded(
    points="2.5",
    title="The sequences of a batch do not see each other",
    hint="Which axis of its input does the attention take for the length?",
)
def test_batch(submission):
    """Catches: `batch_first` left out, so that attention runs along the batch.

    Another sequence in the middle of the batch must leave its neighbours' answers alone.
    """
    table = normal("batch of blocks", VOCAB_SIZE, D_MODEL)
    tokens = torch.stack([TOKENS, TOKENS.flip(0), TOKENS + 2])
    changed = tokens.clone()
    changed[1] = torch.tensor([8, 23, 3, 16])
    block, _ = working(submission, table, tokens, seed=SEED)
    before, again = run(block, tokens), run(block, tokens)
    after = run(block, changed)
    if distance(again, before) < 2e-4:  # answers at random are charged by the test about modes
        what = "the answer to a sequence whose neighbour changed"
        require_close(after[[0, 2]], before[[0, 2]], 2e-4, what)


@pytest.mark.graded(
    points="3",
    title="The token at place i gets row i of the encoding, by addition, before attention",
    hint="Which row meets which token, by which operation, and before or after attention?",
)
def test_rows(submission):
    """Catches: positions multiplied, reversed, shifted, learned, joined, or added after attention.

    With embeddings v - PE(i) a right block attends to equal vectors and answers are equal.
    Missing positions and other amounts are charged by the tests about them.
    """
    if is_small(unevenness(submission, 1.0, SEED), EVEN):
        return
    if implied_ratio(submission, SEED) is None:
        require(
            not places_differ(submission, TOKENS[[0, 0, 1, 2]], SEED),
            "token plus encoding is the same everywhere, but answers differ, whatever the amounts",
        )


@pytest.mark.graded(
    points="1",
    title="Positions reach queries, keys and values",
    hint="Three things are made from the tokens: which of them know the place?",
)
def test_values(submission):
    """Catches: positions that are added for queries and keys alone.

    A sequence of one token, repeated: values that know no place would all be equal, and then
    all answers. Where two different tokens do not show positions, another test charges it.
    """
    if not is_large(places_apart(submission, TOKENS[[0, 0, 0, 0]], SEED), APART, spared=2.3e-4):
        require(
            not places_differ(submission, TOKENS[[0, 0, 1, 2]], SEED),
            "one token, repeated: all its answers are the same",
        )


@pytest.mark.graded(
    points="1",
    title="Attention gets the sum as it is, and its result is the answer",
    hint="What happens between addition and attention, and what after attention?",
)
def test_nothing_else(submission):
    """Catches: residual connections, normalisation, activations, a scaled sum.

    Attention is made to hand on a vector that no encoding has a part in. A factor on the
    embedding alone is charged by the test about amounts, other positions by that about rows,
    answers at random by that about modes.
    """
    for size in (0.5, -0.8):
        arrived = passed_on(submission, size)
        wanted = torch.full_like(arrived, size)
        if distance(arrived, wanted) > 1e-5:
            woven = passed_on(submission, size, woven=True)
            ratio = implied_ratio(submission, SEED)
            factor = float(arrived.median()) / size
            scaled = ratio not in (None, 0, 1) and abs(factor * ratio - 1) < 1e-2
            at_random = distance(passed_on(submission, size), arrived) > 1e-3
            if ratio is None or scaled or at_random or distance(woven, wanted) < 1e-5:
                continue
        require_close(arrived, wanted, 1e-5, "what attention hands on")


@pytest.mark.graded(
    points="1",
    title="More than max_len tokens are an error, not a wrong answer",
    hint="What does your code do with token max_len + 1, for which the table has no row?",
)
def test_too_long(submission):
    """Catches: positions used again, left out or clamped, tokens cut off.

    An error is right, and so are the values that a block with a longer table gives.
    """
    table = normal("too long", VOCAB_SIZE, D_MODEL)
    tokens = torch.tensor([[2, 0, 3, 1, 2, 4, 0], [1, 4, 4, 3, 0, 1, 2]])
    block = build(submission, table, 5, seed=SEED)
    try:
        run(block, tokens[:, :5])
    except NotImplementedError:
        raise
    except Exception:  # the table is one row short: seen elsewhere
        run(block, tokens[:, :4])
    try:
        with torch.no_grad():
            result = block(tokens.clone())
    except NotImplementedError:
        raise
    except Exception:
        return
    y = seen(result, tokens)
    wanted = answer(submission, table, tokens, seed=SEED)
    require_close(y, wanted, 1e-4, "the answer to 7 tokens with max_len = 5")


@pytest.mark.graded(
    points="0.25",
    title="Without max_len, 512 tokens are accepted",
    hint="Does the constructor's last argument have a default, and which?",
)
def test_default(submission):
    """Catches: another default or none.

    That 512 or 511 tokens are accepted is looked at: values, the last place and shorter
    sequences have tests of their own.
    """
    _accept(submission, 512)


@pytest.mark.graded(
    points="0.25",
    title="max_len is what is given",
    hint="Does the constructor's last argument reach the encoding?",
)
def test_max_len(submission):
    """Catches: `max_len` not passed on, so that it is 512 whatever was asked for.

    That 520 or 519 tokens are accepted is looked at. A test of its own, since some attend in
    Python loops, and this is half of the time that they take.
    """
    _accept(submission, 520, 520)


def _accept(submission, max_len, *given):
    block = new_block(submission, 600, 2, 1, *given)  # small: some attend in Python loops
    try:
        run(block, torch.arange(max_len)[None], 2)
    except NotImplementedError:
        raise
    except Exception:
        run(block, torch.arange(max_len - 1)[None], 2)


@pytest.mark.graded(
    points="0.5",
    title="No token is special: not token 0, not the next ones, not the last",
    hint="Does your code treat one token id as something special?",
)
def test_token_zero(submission):
    """Catches: a token taken for padding, in the mask or in the embedding.

    Token 9 and the one in question exchange their names: no answer changes. If it also does
    when two others exchange theirs, the mistake is another one.
    """
    table = normal("names", VOCAB_SIZE, D_MODEL)
    tokens = torch.tensor([[9, 5, 9, 28], [17, 9, 11, 6]])

    def renamed(first, second):
        names = torch.arange(VOCAB_SIZE)
        names[[first, second]] = torch.tensor([second, first])
        return answer(submission, table[names], names[tokens], seed=SEED)

    before = answer(submission, table, tokens, seed=SEED)
    if distance(renamed(9, 7), before) < 2e-4:
        for token in (0, 1, 2, 3, VOCAB_SIZE - 1):
            what = f"the answer with another token named {token}"
            require_close(renamed(9, token), before, 2e-4, what)


@pytest.mark.graded(
    points="1.5",
    title="Gradients reach the embedding and the attention",
    hint="Where does a tensor leave the graph: detach, .data, numpy, no_grad?",
)
def test_gradients(submission):
    """Catches: right values from which no gradient flows back.

    Biases are left out (that of the keys has no gradient); a parameter on which the answer
    does not depend is charged elsewhere.
    """
    table, tokens = 0.3 * normal("gradients of blocks", VOCAB_SIZE, D_MODEL), TOKENS.repeat(2, 1)
    block, _ = working(submission, table, tokens, gain=1.0, seed=SEED)
    _, parts = know(block, VOCAB_SIZE, D_MODEL, NUM_HEADS)
    parameters = dict(block.named_parameters())
    y = seen(block(tokens.clone()), tokens)
    try:
        if y.requires_grad:
            (y * normal("direction of blocks", 2, LENGTH, D_MODEL)).sum().backward()
    except RuntimeError as error:
        raise AssertionError(f"no gradient can be computed: {error}") from None
    state = block.state_dict()
    for name in (*parts.tables, *parts.weights):
        require(name in parameters and name in state, f"{name} is one of the parameters no more")
        parameter = parameters[name]
        if not parameter.requires_grad:
            continue  # frozen: the count says so
        grad = None if parameter.grad is None else parameter.grad.to_dense()
        if grad is not None and float(grad.abs().max()) > 1e-5:
            continue
        if distance(run(block, tokens), y) > 1e-3:
            return  # answers at random are charged by the test about modes
        moved = {name: state[name] + 0.5 * normal("moved", *state[name].shape)}
        block.load_state_dict(state | moved)
        require(
            distance(run(block, tokens), y) < 1e-3,
            f"the answer depends on {name}, but no gradient comes back to it",
        )
        block.load_state_dict(state)


@pytest.mark.graded(
    points="1",
    title="The same input always gives the same answer, in training and evaluation mode",
    hint="What in your block is random, or asks whether it is being trained?",
)
def test_modes(submission):
    """Catches: dropout, layers made anew in `forward`, anything that differs between the modes."""
    table, tokens = normal("modes of blocks", VOCAB_SIZE, D_MODEL), TOKENS.repeat(BATCH, 1)
    block, _ = working(submission, table, tokens, seed=SEED)
    wanted = run(block, tokens)
    require_close(run(block, tokens), wanted, 2e-4, "the second answer to one input")
    block.train()
    for _ in range(2):
        require_close(run(block, tokens), wanted, 2e-4, "the answer in training mode")


@pytest.mark.graded(
    points="0.5",
    title="A second input of the same shape gets its own answer",
    hint="Does your block keep something from an earlier call?",
)
def test_second_call(submission):
    """Catches: results remembered by shape.

    The second answer of one block is compared with the first of another; a block that
    changes its mind about one input is charged by the test about modes.
    """
    table, tokens = normal("second call of blocks", VOCAB_SIZE, D_MODEL), TOKENS.repeat(2, 1)
    other = tokens.flip(1)
    block, _ = working(submission, table, tokens, seed=SEED)
    after = run(block, other)
    beside, _ = working(submission, table, other, seed=SEED)
    wanted = answer(submission, table, other, seed=SEED)
    if distance(run(beside, other), wanted) < 2e-4:
        require_close(after, wanted, 2e-4, "the second answer of one block")


@pytest.mark.graded(
    points="4.5",
    title="The answer is the attention of embedding plus encoding",
    hint="Work one small example through by hand: at which step do your numbers part?",
)
def test_whole(submission):
    """Catches: whatever changes a value, alone or together; the tests above say what it is.

    It is right if any reading of the block's weights explains its answer: which projection
    makes queries, keys or values, fused or not, is the student's choice.
    """
    for sizes in ((VOCAB_SIZE, D_MODEL, 2, 3, 5, 37), (17, 18, 3, 2, 7, 23)):
        y, wanted = both_answers(submission, *sizes)
        require_close(y, wanted, 2e-4)


@pytest.mark.graded(
    points="0.5",
    title="It is so at every size: long sequences, large batches, a single token",
    hint="Where does your block treat one size differently from another?",
)
def test_sizes(submission):
    """Catches: positions or attention that end somewhere, a special case for one token.

    A block that is wrong at a small size is charged by the tests about what is wrong there.
    """
    if distance(*both_answers(submission, 17, 18, 3, 2, 7, 23)) > 2e-4:
        return
    for sizes in ((29, 12, 3, 2, 140, 150), (31, 20, 4, 18, 3, 9), (17, 18, 2, 3, 1, 8)):
        what = f"the answer for batch {sizes[3]}, length {sizes[4]}"
        y, wanted = both_answers(submission, *sizes)
        require_close(y, wanted, 2e-4, what)


def both_answers(submission, vocab_size, d_model, num_heads, batch, length, max_len):
    """Return the block's answer and the nearest right one that its weights allow."""
    table = normal(f"whole block {d_model}", vocab_size, d_model)
    tokens = ((torch.arange(batch * length) * 5 + 11) % vocab_size).reshape(batch, length)
    # What the block was given counts, not what it says of itself.
    block, parts, state = build_known(submission, table, max_len, num_heads=num_heads, seed=SEED)
    y = run(block, tokens, d_model)
    x = table.double()[tokens] + encoding(length, d_model)
    nearest, wanted = math.inf, None
    for reading in readings(state, parts, d_model, num_heads):
        candidate = attend(x, num_heads, *reading).float()
        if wanted is None or distance(y, candidate) < nearest:
            nearest, wanted = distance(y, candidate), candidate
        if nearest < 1e-4:
            break
    require(wanted is not None, "the weights are not those of one attention layer")
    return y, wanted
