"""Hidden tests of exercise 5, from basic to subtle: each about one mechanism.

Weights are chosen so that what else may be wrong in a layer does not show.
"""

import math

import pytest
import torch
from comparison import (
    distance,
    require,
    require_close,
    require_finite,
    require_large,
    require_small,
)
from grouped_layers import (
    NAMES,
    Sizes,
    ask,
    build,
    causal,
    movements,
    new_layer,
    run,
    usual_sizes,
)
from numbers_from_seed import normal
from oracles import shared_attention

SAME = (torch.eye(20), 0.0)  # an output projection that hands on what it gets
# Features of a head that add up to zero. Scores live along them, values along ones.
PATTERN = torch.tensor([1.5, -1.0, -1.0, 1.0, -0.5])
TO_ONES = PATTERN.repeat(4) / float(4 * PATTERN @ PATTERN)


def large_weights(name, sizes):
    """Return all four projections: std 2 / sqrt(d_model), biases of std 1."""
    return {
        part: (
            normal(f"{name} {part} weight", *sizes.shape(part)) * 2 / math.sqrt(sizes.d_model),
            normal(f"{name} {part} bias", sizes.shape(part)[0]),
        )
        for part in NAMES
    }


def fresh(submission, sizes, name):
    """Return a new layer with large weights, whatever they are called.

    For promises that hold for all weights, kept even by a layer whose constructor was changed.
    """
    layer = new_layer(submission, sizes)
    state = dict(layer.state_dict())
    for key, parameter in layer.named_parameters():
        spread = 2 / math.sqrt(parameter.shape[-1]) if parameter.dim() > 1 else 1.0
        state[key] = normal(f"{name} {key}", *parameter.shape) * spread
    layer.load_state_dict(state)
    return layer


def some_mask(length):
    """Return a mask without symmetry or order; the diagonal is not always in it."""
    mask = normal(f"mask {length}", length, length) > 0.2
    return mask | torch.eye(length, dtype=torch.bool).roll(1, 0)


@pytest.mark.graded(
    points="1",
    title="The shape is right for every batch, length, d_model and number of heads",
    hint="Which number in your code is written down that should come from x or the layer?",
)
def test_shapes(submission):
    """Catches: sizes that are fixed in the code. Groups of some heads have a test of their own."""
    for batch, length, *sizes in (
        (2, 5, 12, 6, 6), (3, 2, 20, 4, 4), (7, 3, 10, 5, 1), (4, 6, 32, 8, 1), (2, 9, 7, 1, 1),
    ):  # fmt: skip
        layer = new_layer(submission, Sizes(*sizes))
        for mask in (None, causal(length)):
            run(layer, normal("shapes", batch, length, sizes[0]), mask)


@pytest.mark.graded(
    points="0.5",
    title="The layer has the parameters of its four projections and no others",
    hint="Which parameter is there besides the four projections, or not there?",
)
def test_parameter_count(submission):
    """Catches: layers made in `forward`, learned scales, dropped biases."""
    for sizes in (Sizes(128, 8, 2), Sizes(20, 4, 4), Sizes(30, 6, 1)):
        layer = new_layer(submission, sizes)
        if sizes.num_kv_heads == sizes.num_heads:  # where every layer can answer
            run(layer, normal("count", 2, 3, sizes.d_model))
        count = sum(p.numel() for p in layer.parameters() if p.requires_grad)
        wanted = sum(math.prod(sizes.shape(name)) + sizes.shape(name)[0] for name in NAMES)
        require(count == wanted, f"{count:,} parameters can be trained; expected {wanted:,}")


@pytest.mark.graded(
    points="1",
    title="The sequences of a batch do not see each other",
    hint="Over which axes do your softmax and your matrix products run?",
)
def test_batch(submission):
    """Catches: heads and batch mixed up, softmax over the batch, batch taken for length.

    Another sequence in the middle of the batch must leave its neighbours' answers alone.
    """
    sizes, x = usual_sizes(submission), normal("batch", 3, 5, 20)
    changed = x.clone()
    changed[1] = normal("another sequence", 5, 20)
    before = run(fresh(submission, sizes, "batch"), x)[[0, 2]]
    after = run(fresh(submission, sizes, "batch"), changed)[[0, 2]]
    require_close(after, before, 5e-5, "the answer to a sequence whose neighbour changed")


@pytest.mark.graded(
    points="2.5",
    title="Neighbouring query heads share a key-value head",
    hint="With 4 heads and 2 key-value heads: which key-value head does query head 1 use?",
)
def test_groups(submission):
    """Catches: `repeat` for `repeat_interleave`, one key-value head for all, heads reversed.

    First each key-value head has a value of its own and all scores are zero: the answer of a
    query head is the value of its group. Then each has keys that point to one token.
    """
    sizes = Sizes(30, 6, 3)
    owner = torch.arange(6) // 2
    same = (torch.eye(30), 0.0)
    values = torch.tensor([1.0, -2.0, 4.0]).repeat_interleave(5)
    layer = build(submission, sizes, Wv=(0.0, values), Wo=same)
    y = run(layer, normal("groups", 2, 4, 30)).unflatten(-1, (6, 5))
    wanted = values[::5][owner][:, None].expand(2, 4, 6, 5)
    require_close(y, wanted, 2e-5, "values of which each key-value head has its own: the output")

    tokens = torch.eye(4, 30).expand(2, 4, 30)
    keys = torch.zeros(15, 30)
    for head in range(3):
        keys[5 * head : 5 * head + 5, head] = 30.0  # key-value head n looks at token n
    numbers = torch.zeros(15, 30)
    numbers[:, :4] = torch.tensor([1.0, 2.0, 3.0, 4.0])
    layer = build(submission, sizes, Wq=(0.0, 1.0), Wk=(keys, 0.0), Wv=(numbers, 0.0), Wo=same)
    seen = run(layer, tokens).unflatten(-1, (6, 5)).mean(-1)  # (batch, length, num_heads)
    require_close(
        seen, (owner + 1.0).expand(2, 4, 6), 4e-5, "keys that point to a token: the token seen"
    )


@pytest.mark.graded(
    points="1",
    title="Values come from Wv and keys from Wk",
    hint="Wk and Wv have the same shape: which of them makes what the weights are applied to?",
)
def test_values(submission):
    """Catches: keys and values exchanged, values from the wrong projection.

    All keys are zero, so every token gets the mean of the values, whatever the divisor. Both
    key-value heads and all features are alike. What follows is fitted: one factor.
    """
    x, row = normal("values", 2, 4, 20), normal("one row of values", 20)
    sizes = usual_sizes(submission)
    y = run(build(submission, sizes, Wq=(0.0, 1.0), Wv=(row, 0.5), Wo=SAME), x)
    wanted = (x @ row + 0.5).mean(1)[:, None, None].expand(2, 4, 20)
    require_close(y, wanted, 5e-5, "with keys of zero, the mean of the values")


@pytest.mark.graded(
    points="2",
    title="Scores are divided by sqrt(d_k), and softmax makes them weights",
    hint="What is a score divided by before softmax, and what else happens to it?",
)
def test_divisor(submission):
    """Catches: no divisor or another one, a divisor after softmax.

    Tokens are +, +, -, - times one vector of equal heads, so scores are a or -a and an answer
    is tanh(a / divisor): the divisor can be read off. It does not matter which head meets
    which, and one entry that is right is enough.
    """
    implied, gaps, sizes = [], [], usual_sizes(submission)
    keys = torch.eye(sizes.d_kv, 20)  # tokens are made of equal heads: any of them will do
    for size in (0.6, 0.8):
        x = (torch.tensor([size, size, -size, -size])[:, None] * PATTERN.repeat(4)).repeat(2, 1, 1)
        given = {"Wq": SAME, "Wk": (keys, 0.0), "Wv": (TO_ONES, 0.0), "Wo": SAME}
        y = run(build(submission, sizes, **given), x).abs() / size
        require_finite(y)
        score = size**2 * float(PATTERN @ PATTERN)
        gaps.append(float((y - math.tanh(score / math.sqrt(5))).abs().min()))
        seen = float(y.median())
        implied.append(score / math.atanh(seen) if 1e-6 < seen < 1 - 1e-6 else math.inf)
    require_small(max(gaps), 1e-5, describe_divisor(implied))


def describe_divisor(implied):
    """Say which divisor the answers imply, and where it may come from."""
    low, high = min(implied), max(implied)
    wanted = f"expected {math.sqrt(5):.2f} = sqrt(d_k)"
    if math.isinf(high) or high - low > 0.02 * low:
        return f"the weights are not softmax(scores / divisor) for any divisor; {wanted}"
    names = {
        "no division at all": 1,
        "sqrt(d_model)": math.sqrt(20),
        "sqrt(num_heads)": 2,
        "sqrt(num_kv_heads)": math.sqrt(2),
        "sqrt(num_kv_heads d_k)": math.sqrt(10),
        "d_k": 5,
    }
    value = sum(implied) / len(implied)
    origin = [f" = {name}" for name, number in names.items() if abs(number / value - 1) < 0.01]
    return f"you divide by {value:.2f}{''.join(origin)}; {wanted}"


@pytest.mark.graded(
    points="2",
    title="A True in the mask lets a key through, and only a True does",
    hint="Row i, column j of the mask: who looks at whom, and is he allowed to or forbidden?",
)
def test_who_sees_whom(submission):
    """Catches: the mask the other way round, transposed, ignored, added or multiplied as a number.

    Queries are constant, so exchanging a token moves the answers of those that look at it.
    """
    sizes = usual_sizes(submission)
    layer = build(
        submission,
        sizes,
        Wq=(0.0, 0.3),
        Wk=(0.1 * normal("keys", sizes.d_kv, 20), 0.0),
        Wv=(normal("values", sizes.d_kv, 20), 0.0),
        Wo=SAME,
    )
    x, mask = normal("who", 5, 20), some_mask(5)
    moved = movements(layer, x, mask)
    require_finite(moved, "the output with a mask")
    sees = moved > 1e-3
    if bool((sees == ~mask).all()):
        raise AssertionError("a token sees what the mask forbids, and nothing of what it allows")
    if bool((sees == mask.T).all()):
        raise AssertionError("rows and columns of the mask are exchanged")
    if bool(sees.all()):
        raise AssertionError("every token sees every token: the mask hides nothing")
    require(bool((sees == mask).all()), "some tokens see others than the mask says")


@pytest.mark.graded(
    points="1.5",
    title="The weights of the keys that are left add up to one",
    hint="At which step does a hidden key lose its weight: before softmax, or after?",
)
def test_masked_weights(submission):
    """Catches: weights set to zero after softmax, masks that are added as numbers.

    All values are 1: any weights that add up to one give ones.
    """
    sizes = usual_sizes(submission)
    weights = large_weights("masked", sizes) | {"Wv": (0.0, 1.0), "Wo": SAME}
    y = run(build(submission, sizes, **weights), normal("masked", 3, 5, 20), some_mask(5))
    require_close(y, torch.ones(3, 5, 20), 2e-5, "with a mask and values of 1 everywhere, y")


@pytest.mark.graded(
    points="1",
    title="Without a mask every token sees every token",
    hint="What does your layer do when mask is None?",
)
def test_no_mask(submission):
    """Catches: a causal mask that is always there. Only whether answers move is looked at."""
    sizes = usual_sizes(submission)
    layer = build(
        submission,
        sizes,
        Wk=(0.1 * normal("keys", sizes.d_kv, 20), 0.0),
        Wv=(normal("values", sizes.d_kv, 20), 0.0),
        Wo=SAME,
    )
    moved = movements(layer, normal("no mask", 5, 20))
    require_large(float(moved.min()), 0.02, "an exchanged token does not move every answer")


@pytest.mark.graded(
    points="1.5",
    title="The joined heads pass through Wo once, with its bias, and nothing follows",
    hint="What happens to the joined heads after attention, and how often?",
)
def test_output_projection(submission):
    """Catches: Wo missing, applied twice or transposed; the input added to the result.

    All values are 2, so the joined heads are 2 everywhere, however heads share and mix.
    """
    weight, bias = normal("Wo weight", 20, 20), normal("Wo bias", 20)
    layer = build(submission, usual_sizes(submission), Wv=(0.0, 2.0), Wo=(weight, bias))
    y = run(layer, normal("output", 2, 4, 20))
    wanted = (2 * weight.sum(1) + bias).expand(2, 4, 20)
    require_close(y, wanted, 2e-4, "the output for joined heads that are 2 everywhere")


@pytest.mark.graded(
    points="1",
    title="Gradients reach all four projections and the input",
    hint="Does every step from x to the result use tensors of PyTorch?",
)
def test_gradients(submission):
    """Catches: detours over NumPy, `detach`, `no_grad`. The bias of Wk is exempt: its true
    gradient is zero.
    """
    layer = fresh(submission, usual_sizes(submission), "gradients")
    parameters = dict(layer.named_parameters())
    x = 0.3 * normal("gradients", 2, 4, 20)
    given = x.clone()
    with torch.no_grad():
        before = ask(layer, given).clone()
    if not torch.equal(given, x):
        return  # a leaf that is written into takes no gradient; another test charges it
    x.requires_grad_()
    y = ask(layer, x)
    if y.requires_grad:
        (y * normal("weights of gradients", 2, 4, 20)).sum().backward()
    state = dict(layer.state_dict())
    for name, parameter in parameters.items():
        grad = parameter.grad
        if name.startswith("Wk.bias") or (grad is not None and float(grad.abs().max()) > 1e-3):
            continue
        layer.load_state_dict({**state, name: state[name] + 0.5})
        is_used = distance(run(layer, x.detach()), before) > 1e-3
        require(not is_used, f"the answer depends on {name}, but no gradient reaches it")
    layer.load_state_dict(state)
    arrived = 0.0 if x.grad is None else float(x.grad.abs().amax(-1).min())
    is_used = distance(run(layer, x.detach() + 0.5), before) > 1e-3
    require(arrived > 1e-3 or not is_used, "no gradient reaches some token of x")


@pytest.mark.graded(
    points="0.5",
    title="Scores in the thousands are no problem",
    hint="What does exp do with 1000, and what does softmax do about it?",
)
def test_large_scores(submission):
    """Catches: softmax by hand that overflows. Only finiteness is asked for."""
    x, sizes = 60 * normal("large", 2, 5, 20), usual_sizes(submission)
    for mask in (None, causal(5)):
        require_finite(run(fresh(submission, sizes, "large"), x, mask))


@pytest.mark.graded(
    points="0.5",
    title="The same input always gives the same answer, in training and evaluation mode",
    hint="What in your layer is random, or remembers something from an earlier call?",
)
def test_modes(submission):
    """Catches: dropout, results and masks that are remembered by shape."""
    x, sizes = normal("modes", 2, 5, 20), usual_sizes(submission)
    layer = fresh(submission, sizes, "modes")
    wanted = run(layer, x, some_mask(5))
    require_close(run(layer, x, some_mask(5)), wanted, 5e-5, "the second answer to one input")
    layer.train()
    for _ in range(2):
        require_close(run(layer, x, some_mask(5)), wanted, 5e-5, "the answer in training mode")
    layer.eval()
    other = normal("other", 2, 5, 20)
    for mask in (causal(5), None):
        new = run(fresh(submission, sizes, "modes"), other, mask)
        require_close(run(layer, other, mask), new, 5e-5, "the answer to another input or mask")


@pytest.mark.graded(
    points="0.5",
    title="The caller's x and mask are left as they were",
    hint="Which operation with an underscore or an assignment writes into x or the mask?",
)
def test_inputs_unchanged(submission):
    """Catches: in-place arithmetic on x or the mask. Right code only reads them."""
    x, mask = normal("unchanged", 2, 5, 20), some_mask(5)
    given, may = x.clone(), mask.clone()
    layer = fresh(submission, usual_sizes(submission), "unchanged")
    with torch.no_grad():
        ask(layer, given, may)
    require(torch.equal(given, x), "after the call, x is no longer what it was before")
    require(torch.equal(may, mask), "after the call, the mask is no longer what it was before")


@pytest.mark.graded(
    points="3.5",
    title="It equals multi-head attention when the counts are equal, and multi-query at one",
    hint="Work one small example through by hand: at which step do your numbers part?",
)
def test_whole(submission):
    """Catches: whatever changes a value, alone or together; the tests above say what it is.

    The oracle is nn.MultiheadAttention in float64 with repeated keys and values, its mask
    turned over. Correct float32 layers stay within 2e-5.
    """
    for batch, length, *numbers in ((2, 5, 24, 6, 3), (3, 4, 20, 4, 4), (4, 3, 30, 6, 1),
                                    (2, 7, 32, 8, 2)):  # fmt: skip
        sizes, name = Sizes(*numbers), f"whole {numbers}"
        x, weights = normal(name, batch, length, sizes.d_model), large_weights(name, sizes)
        for mask in (None, some_mask(length)):
            layer = build(submission, sizes, **weights)
            wanted = shared_attention(x, sizes.num_heads, sizes.num_kv_heads, weights, mask)
            require_close(run(layer, x, mask), wanted, 2e-4)
