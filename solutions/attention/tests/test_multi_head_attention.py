"""Hidden tests of exercise 1, from basic to subtle: each about one mechanism.

Every test is built so that a layer with another fault, but not this one, passes it: what
else may be wrong then cancels. Where that needs special inputs, the docstring says how.
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
    tensor_of,
)
from inputs import (
    ALL_TO_ONES,
    ALL_TO_ONES_AND_BACK,
    ALONG,
    ALONG_TO_ONES,
    D_K,
    D_MODEL,
    GAIN,
    KEEP_ALONG,
    NUM_HEADS,
    ONES_TO_ONES,
    PATTERN,
    SAME,
    along,
    independent_attention,
    large_weights,
    normal,
    read,
    shake,
)
from projections import NAMES, answer, build, build_known, new_layer


def has_more_matrices(layer, d_model):
    """Say whether a layer trains a matrix besides the four projections, to mix features with."""
    parameters = dict(layer.named_parameters()).items()
    others = [p for name, p in parameters if name.partition(".")[0] not in NAMES]
    return any(p.requires_grad and p.dim() > 1 and d_model in p.shape for p in others)


def fresh(submission, d_model, num_heads, name):
    """Return a new layer in evaluation mode with large weights, whatever they are called."""
    layer = new_layer(submission, d_model, num_heads)
    shake(submission, layer, (d_model, num_heads), name)
    return layer


def run(layer, x):
    """Return the answer to a copy of `x`, without gradients."""
    with torch.no_grad():
        return tensor_of(layer(x.clone()), tuple(x.shape))


@pytest.mark.graded(
    points="1",
    title="The shape is right for every batch, length, d_model and num_heads",
    hint="Which number in your code is written down that should come from x.shape?",
)
def test_shapes(submission):
    """Catches: a batch or length that is fixed in the code, code that needs special sizes.

    Right layers take any of these sizes; values are not looked at.
    """
    for batch, length, d_model, num_heads in (
        (2, 5, 12, 3), (3, 2, 20, 4), (7, 3, 10, 2), (4, 6, 15, 5), (2, 9, 7, 1), (5, 13, 24, 8),
    ):  # fmt: skip
        layer = new_layer(submission, d_model, num_heads)
        run(layer, normal("shapes", batch, length, d_model))


@pytest.mark.graded(
    points="1",
    title="The layer has 4 (d_model^2 + d_model) parameters, 66,048 for d_model = 128",
    hint="Four projections with bias: which parameter is there besides them, or not there?",
)
def test_parameter_count(submission):
    """Catches: additional layers, learned scales, dropped biases, unregistered modules.

    Counts what can be trained; frozen parameters and buffers are free.
    """
    for d_model, num_heads in ((128, 4), (12, 3), (10, 2)):
        layer = new_layer(submission, d_model, num_heads)
        count = sum(p.numel() for p in layer.parameters() if p.requires_grad)
        expected = 4 * (d_model**2 + d_model)
        require(
            count == expected,
            f"d_model = {d_model}: {count:,} parameters can be trained; expected {expected:,}",
        )


@pytest.mark.graded(
    points="2",
    title="Shuffling the tokens shuffles the answers in the same way",
    hint="May every token look at every token, and does each entry stay with its token?",
)
def test_shuffled_tokens(submission):
    """Catches: `view` in place of `transpose`, causal masks, positions inside the layer.

    Holds for every weight, scale, softmax axis and order of heads. All sequences of a batch
    are equal, so that one looking at another does not matter here.
    """
    x = normal("shuffled", 1, 5, 12).repeat(2, 1, 1)
    order = torch.tensor([3, 0, 4, 1, 2])
    straight = run(fresh(submission, 12, 3, "shuffled"), x)
    shuffled = run(fresh(submission, 12, 3, "shuffled"), x[:, order])
    require_close(shuffled, straight[:, order], 1e-4, "the answer to shuffled tokens")


@pytest.mark.graded(
    points="2",
    title="The sequences of a batch do not see each other",
    hint="Over which axes do your softmax and your matrix products run?",
)
def test_batch(submission):
    """Catches: softmax over the batch, heads and batch mixed up, batch taken for length.

    Another sequence in the middle of the batch must leave its neighbours' answers alone,
    which is so for any attention within a sequence.
    """
    x = normal("batch", 3, 5, 8)
    changed = x.clone()
    changed[1] = normal("another sequence", 5, 8)
    before = run(fresh(submission, 8, 4, "batch"), x)[[0, 2]]
    after = run(fresh(submission, 8, 4, "batch"), changed)[[0, 2]]
    require_close(after, before, 5e-5, "the answer to a sequence whose neighbour changed")


@pytest.mark.graded(
    points="3",
    title="The joined heads pass through Wo once, with its bias, and nothing follows",
    hint="What happens to the joined heads after attention, and how often?",
)
def test_output_projection(submission):
    """Catches: Wo missing, applied twice or per head, without bias; anything added after it.

    The input and with it all queries, keys and values are ones, so every token's joined heads
    are one number everywhere, whatever weights, heads, masks and projections do. That number
    is fitted; what is left is Wo, which way round it is used, and its bias.
    """
    weight, bias = normal("Wo weight", D_MODEL, D_MODEL), normal("Wo bias", D_MODEL)
    ones = (ONES_TO_ONES, 0.0)
    given = {"Wq": ones, "Wk": ones, "Wv": ones, "Wo": (weight, bias)}
    layer, held = build_known(submission, D_MODEL, NUM_HEADS, **given)
    y = run(layer, torch.ones(2, 4, D_MODEL))
    require_finite(y)
    bias = held["Wo"][1]
    sums = weight.sum(1)
    factor = (y - bias) @ sums / (sums @ sums)  # (batch, length)
    require_large(
        float(factor.abs().min()), 1e-2, "the joined heads do not reach the output through Wo"
    )
    require_close(y, factor[..., None] * sums + bias, 1e-4, "the output for constant heads")


@pytest.mark.graded(
    points="2",
    title="The values come from Wv, applied once, with its bias, to the whole token",
    hint="Which projection makes the values, and what does it act on?",
)
def test_values(submission):
    """Catches: values from another projection or from x itself, biases left out, Wv on slices of x
    or transposed.

    Queries and keys are constant and all tokens of a sequence are equal, so attention can
    only hand the value on, times a factor that is the same for both inputs: the ratio of the
    two answers depends on Wv alone. All features of the value are equal, so the order of
    heads does not matter; an added input sums to zero.
    """
    constant = (0.0, 1.0)
    given = {"Wq": constant, "Wk": constant, "Wv": (ALL_TO_ONES, 2.0), "Wo": (SAME, 0.0)}
    layers = [build_known(submission, D_MODEL, NUM_HEADS, **given) for _ in range(2)]
    large, small = (
        float(run(layer, along([size] * 4)).sum())
        for (layer, _), size in zip(layers, (1, -1), strict=True)
    )
    bias = float(layers[0][1]["Wv"][1])
    wanted = (bias + 1) / (bias - 1)
    require_small(
        abs(large / small - wanted) if abs(small) > 1e-3 else math.inf,
        4e-5,
        f"values of {bias + 1:g} and of {bias - 1:g} do not come out in this ratio",
        size=wanted,
    )


@pytest.mark.graded(
    points="2",
    title="Queries come from Wq and keys from Wk, and a token asks with its query",
    hint="In row i, column j of the scores: whose query meets whose key?",
)
def test_roles(submission):
    """Catches: queries and keys swapped, or x in their place; one of them projected twice.

    First all keys are equal: then no token is preferred, and values that sum to zero over the
    sequence give answers that sum to zero, under any normalisation, mask (the numbers 3, -11,
    11, -3 see to it) or reshaping. Swapped, every token prefers the one with the largest
    query. Then Wq turns the sign, then Wk: a token must not turn to the tokens like itself.
    Values that do not come from Wv show nothing here and are charged elsewhere.
    """
    sizes = [1.5 * size / 11 for size in (3, -11, 11, -3)]
    x = along(sizes)
    keep, turn, equal = (KEEP_ALONG, 0.0), (-KEEP_ALONG, 0.0), (0.0, ALONG)

    def ask(queries, keys, x=x):
        values, plain = (ALONG_TO_ONES, 0.0), (SAME, 0.0)
        y = answer(submission, D_MODEL, NUM_HEADS, x, Wq=queries, Wk=keys, Wv=values, Wo=plain)
        require_finite(y)
        return y

    preferred = float(ask(keep, equal).sum((1, 2)).abs().max())
    require_small(
        preferred,
        1e-3,
        "with all keys equal, some tokens are still preferred to others",
        size=4 * D_MODEL,
    )
    met = ask(keep, keep).mean(-1) @ torch.tensor(sizes)  # (batch,)
    shown = ask(keep, keep, along([1.5] * 4)).mean(-1)  # what values give, whatever attention does
    require(
        bool((met.abs() > 0.1).any()) or float(shown.abs().max()) < 0.1,
        "with queries and keys that make tokens turn to those like themselves, they do not",
    )
    for name, queries, keys in (("queries", turn, keep), ("keys", keep, turn)):
        y = ask(queries, keys)
        likeness = y.mean(-1) @ torch.tensor(sizes)  # (batch,)
        require(
            bool((likeness < 0.1).any()) and distance(y, x) > 0.1,
            f"with {name} of the opposite sign, tokens still turn to the tokens like themselves",
        )


@pytest.mark.graded(
    points="3",
    title="Scores are divided by sqrt(d_k), and softmax makes them weights",
    hint="What is a score divided by before softmax, and what else happens to it?",
)
def test_divisor(submission):
    """Catches: no divisor or another one, at another place; ReLU or tanh on scores; softmax twice.

    Tokens are +, +, -, - times one vector, so scores are a or -a and a token's answer is
    tanh(a / divisor), up to its sign: the divisor can be read off. Rows and columns of these
    scores are alike, so axis, order and roles do not matter; one entry in which the divisor
    is right is enough, so neither do masks and reshapes. Answers of layers with the right
    divisor and another fault (see `explained`) are let through.
    """
    plain, keep, values = (SAME, 0.0), (KEEP_ALONG, 0.0), (ALONG_TO_ONES, 0.0)
    implied, gaps = [], dict.fromkeys(explained(1.0), 0.0)
    for size in (0.3, 0.45):
        x = along([size, size, -size, -size])
        y = answer(submission, D_MODEL, NUM_HEADS, x, Wq=keep, Wk=keep, Wv=values, Wo=plain)
        require_finite(y)
        y = y / size
        parts = (y.flatten() / GAIN, y.mean(-1).flatten() / GAIN, read(y).flatten())
        readings = torch.cat(parts).abs()
        score = size**2 * float(PATTERN @ PATTERN)
        wanted = explained(score / math.sqrt(D_K))
        for name, answer_to_it in wanted.items():
            gap = float((readings - abs(answer_to_it)).abs().min())
            gaps[name] = max(gaps[name], gap)
        seen = float(y.mean(-1).abs().median()) / GAIN
        implied.append(score / math.atanh(seen) if 1e-6 < seen < 1 - 1e-6 else math.inf)
    require_small(min(gaps.values()), 1e-5, describe_divisor(implied))


def explained(a):
    """Return the answers of tokens +, +, -, - for a right score `a`, by what else is wrong."""
    return {
        "nothing": math.tanh(a),
        "heads added up": NUM_HEADS * math.tanh(a),
        "one head": math.tanh(NUM_HEADS * a),
        "one head, with a divisor to match": math.tanh(math.sqrt(NUM_HEADS) * a),
        "no softmax": 4 * a,
        "sigmoid": 2 * math.tanh(a / 2),
        "one softmax over all scores": math.tanh(a) / 4,
        "itself masked": (math.exp(2 * a) - 2) / (math.exp(2 * a) + 2),
    }


def describe_divisor(implied):
    """Say which divisor the answers imply, and where it may come from."""
    low, high = min(implied), max(implied)
    wanted = f"expected {math.sqrt(D_K):.2f} = sqrt(d_k)"
    if math.isinf(high) or high - low > 0.02 * low:
        return f"the weights are not softmax(scores / divisor) for any divisor; {wanted}"
    names = {
        "no division at all": 1,
        "sqrt(d_model)": math.sqrt(D_MODEL),
        "sqrt(length), or a rounded root": 2,
        "sqrt(num_heads)": math.sqrt(NUM_HEADS),
        "d_k": D_K,
        "d_k squared": D_K**2,
        "d_model": D_MODEL,
        "sqrt(64), the paper's": 8,
        "1 / sqrt(d_k), a multiplication": 1 / math.sqrt(D_K),
        "2 sqrt(d_k), or negative scores cut off": 2 * math.sqrt(D_K),
    }
    value = sum(implied) / len(implied)
    origin = [f" = {name}" for name, number in names.items() if abs(number / value - 1) < 0.01]
    return f"you divide by {value:.2f}{''.join(origin)}; {wanted}"


@pytest.mark.graded(
    points="2",
    title="Every head attends on its own and has its own part in the answer",
    hint="How many different sets of weights does one token use, and what becomes of each?",
)
def test_heads(submission):
    """Catches: one big head, heads added or averaged, one head standing for all.

    Each third of a token's features makes stronger scores than the one before, while every
    feature of a value is the same: a token's answer must take three different numbers, one
    for each third of its features. Which numbers, and which third, is left to other tests.
    """
    strengths = torch.tensor([0.4, 1.0, 1.6]).repeat_interleave(D_K)
    x, plain = along([0.5, -0.9, 0.8, 0.3]) * strengths, (SAME, 0.0)
    values = (ALL_TO_ONES_AND_BACK, 0.0)
    y = answer(submission, D_MODEL, NUM_HEADS, x, Wq=plain, Wk=plain, Wv=values, Wo=plain)
    require_finite(y)
    traces = thirds(y).mean(-1)  # (batch, length, num_heads)
    if float(traces.abs().max()) < 1e-3:  # the values did not come from Wv: seen elsewhere
        traces = thirds(y / strengths) @ PATTERN / (PATTERN @ PATTERN)
    gaps = (traces - traces.roll(1, -1)).abs().amin(-1)  # (batch, length)
    require_large(
        float(gaps.max()),
        1e-2,
        "three heads with scores of different strength do not leave three different traces",
    )


def thirds(y):
    """Return the features of each head apart: (batch, length, num_heads, d_k)."""
    return y.unflatten(-1, (NUM_HEADS, D_K))


@pytest.mark.graded(
    points="1",
    title="Head k owns the k-th block of d_k features, before and after attention",
    hint="Which features of a query belong to head 0, and where does head 0's result end up?",
)
def test_head_order(submission):
    """Catches: heads that take every num_heads-th feature, heads joined in interleaved order.

    Only head 0 has scores, and every feature of a value is the same: answers may differ
    between the first block of features and the rest, and nowhere else. Layers that scramble
    tokens are charged by the test about shuffling, those with a matrix too many by the count,
    and let through here.
    """
    x, order, plain = along([0.9, -0.8, 0.3, -0.5]), [2, 0, 3, 1], (SAME, 0.0)
    first = (torch.diag((torch.arange(D_MODEL) < D_K).float()), 0.0)

    given = {"Wq": first, "Wk": plain, "Wv": (ALONG_TO_ONES, 0.0), "Wo": plain}
    layer, shuffled = (build(submission, D_MODEL, NUM_HEADS, **given) for _ in range(2))
    y = run(layer, x)
    require_finite(y)
    if distance(run(shuffled, x[:, order]), y[:, order]) > 1e-3:
        return
    if has_more_matrices(layer, D_MODEL):
        return
    blocks = thirds(y)
    share = blocks @ PATTERN / (PATTERN @ PATTERN)  # (batch, length, num_heads)
    uneven = blocks - blocks.mean(-1, keepdim=True) - share[..., None] * PATTERN
    stray = uneven.abs().amax((1, 2, 3)) + (blocks[:, :, 1] - blocks[:, :, 2]).abs().amax((1, 2))
    require_small(
        float(stray.min()),
        1.5e-5,
        "head 0 is made to differ from the others, but not exactly the first d_k features differ",
    )


@pytest.mark.graded(
    points="1",
    title="A token of all zeros is a token like any other",
    hint="Does your code treat a row of zeros as something special?",
)
def test_zero_token(submission):
    """Catches: rows of zeros taken for padding, as key or query; scores of zero taken for masked.

    Moving the row from zero by a ten-thousandth moves a right answer hardly at all. There are
    no biases, so the scores of that row are exactly zero as well.
    """
    x = normal("zero", 2, 5, 12)
    x[:, 2] = 0
    near = x.clone()
    near[:, 2] = 1e-4
    answers = []
    for tokens in (x, near):
        layer = new_layer(submission, 12, 3)
        shake(submission, layer, (12, 3), "zero", with_biases=False)
        answers.append(run(layer, tokens))
    require_close(answers[0], answers[1], 1e-2, "the answer with a row of zeros")


@pytest.mark.graded(
    points="0.5",
    title="Scores in the thousands are no problem",
    hint="How large does exp(1000) get, and how does torch.softmax avoid it?",
)
def test_large_scores(submission):
    """Catches: exp and sum without subtracting the largest score first; scores cut off instead.

    `torch.softmax` is exact for scores of this size. A layer that is not right for small scores
    either is charged by the tests about that: of it, only finite numbers are asked.
    """
    x, weights = normal("large", 2, 5, 12), large_weights("large", 12)
    factors = {name: torch.as_tensor(weights[name][0]) * 20 for name in ("Wq", "Wk")}
    strong = {**weights, **{name: (weight, torch.zeros(12)) for name, weight in factors.items()}}
    y = answer(submission, 12, 3, x, **strong)
    require_finite(y, "the output for scores in the thousands")
    small = answer(submission, 12, 3, x, **weights)
    if distance(small, independent_attention(x, 3, weights)) < 2e-4:
        wanted = independent_attention(x, 3, strong)
        require_close(y, wanted, 2e-4, "the output for scores in the thousands")


@pytest.mark.graded(
    points="1.5",
    title="Gradients reach all four projections and the input",
    hint="Where does a tensor leave the graph: detach, .data, numpy, item, no_grad?",
)
def test_gradients(submission):
    """Catches: right values from which no gradient flows back.

    A projection on which the answer does not depend is charged elsewhere and passed over.
    `Wk.bias` is exempt: added to all keys it changes no softmax, so its gradient is zero.
    """
    d_model, num_heads = 12, 3
    x, weights = normal("gradients", 2, 5, d_model), large_weights("gradients", d_model)
    direction = normal("direction", 2, 5, d_model)
    layer = build(submission, d_model, num_heads, **weights)
    parameters = dict(layer.named_parameters())
    y = tensor_of(layer(x.clone()), (2, 5, d_model))
    try:
        if y.requires_grad:
            (y * direction).sum().backward()
    except RuntimeError as error:
        raise AssertionError(f"no gradient can be computed: {error}") from None
    state = {name: value.detach().clone() for name, value in layer.state_dict().items()}
    for name in (f"{name}.{part}" for name in NAMES for part in ("weight", "bias")):
        grad = parameters[name].grad if name in parameters else None
        if name == "Wk.bias" or (grad is not None and float(grad.abs().max()) > 1e-4):
            continue
        if name in state:
            layer.load_state_dict({**state, name: state[name] + 0.5})
            require(
                distance(run(layer, x), y) < 1e-3,
                f"the answer depends on {name}, but no gradient comes back to it",
            )
    layer.load_state_dict(state)
    given = x.clone().requires_grad_()
    try:
        (tensor_of(layer(given), (2, 5, d_model)) * direction).sum().backward()
    except RuntimeError:  # it writes into its input: charged by another test
        return
    reached = given.grad is not None and float(given.grad.abs().max()) > 1e-4
    require(
        reached or distance(run(layer, x + direction), y) < 1e-3,
        "the answer depends on x, but no gradient comes back to it",
    )


@pytest.mark.graded(
    points="0.5",
    title="A second input of the same shape gets its own answer",
    hint="Does your layer keep something from an earlier call?",
)
def test_second_call(submission):
    """Catches: results remembered by shape, weights kept from the first call.

    The second answer of one layer is compared with the first answer of another with the same
    weights, and so is its answer with new weights; where even that one changes its mind,
    another test charges it.
    """
    first, second = normal("first", 2, 5, 12), normal("second", 2, 5, 12)
    layer = fresh(submission, 12, 3, "second call")
    before = run(layer, first)
    after = run(layer, second)
    require_large(distance(after, before), 0.1, "the second answer is the first one again")
    other = fresh(submission, 12, 3, "second call")
    wanted = run(other, second)
    if distance(run(fresh(submission, 12, 3, "second call"), second), wanted) < 1e-6:
        require_close(after, wanted, 1e-4, "the second answer of one layer")
        newer = fresh(submission, 12, 3, "newer weights")
        layer.load_state_dict(newer.state_dict())
        require_close(run(layer, second), run(newer, second), 1e-4, "the answer with new weights")


@pytest.mark.graded(
    points="0.5",
    title="The same input always gives the same answer, in training and evaluation mode",
    hint="What in your layer is random, or asks whether it is being trained?",
)
def test_modes(submission):
    """Catches: dropout, layers made anew in `forward`, anything that differs between the modes.

    Nothing in the contract is random or depends on the mode.
    """
    x = normal("modes", 2, 5, 12)
    layer = fresh(submission, 12, 3, "modes")
    wanted = run(layer, x)
    require_close(run(layer, x), wanted, 1e-4, "the second answer to one input")
    layer.train()
    for _ in range(2):
        require_close(run(layer, x), wanted, 1e-4, "the answer in training mode")


@pytest.mark.graded(
    points="0.5",
    title="The caller's input is left as it was",
    hint="Which operation with an underscore or an assignment writes into x?",
)
def test_input_unchanged(submission):
    """Catches: in-place arithmetic on x. Right code only reads it."""
    x = normal("unchanged", 2, 5, 12)
    given = x.clone()
    layer = fresh(submission, 12, 3, "unchanged")
    with torch.no_grad():
        layer(given)
    require(torch.equal(given, x), "after the call, x is no longer what it was before")


@pytest.mark.graded(
    points="5.5",
    title="With the same weights the answer equals that of nn.MultiheadAttention",
    hint="Work one small example through by hand: at which step do your numbers part?",
)
def test_whole(submission):
    """Catches: whatever changes a value, alone or together; the tests above say what it is.

    The oracle is PyTorch's own layer in float64. Correct float32 layers stay within 2e-5.
    """
    for sizes in ((2, 5, 12, 3), (3, 7, 20, 2), (4, 2, 18, 6)):
        y, wanted = both_answers(submission, *sizes)
        require_close(y, wanted, 2e-4)


@pytest.mark.graded(
    points="1",
    title="It does so at every size: long sequences, large batches, one head and many",
    hint="Where does your code treat one size differently from another?",
)
def test_sizes(submission):
    """Catches: a window or a cut that small inputs never meet, a special case for one head.

    A layer that is wrong at a small size is charged by the tests about what is wrong there.
    """
    if distance(*both_answers(submission, 2, 5, 12, 3)) > 2e-4:
        return
    for sizes in ((2, 140, 6, 2), (18, 3, 10, 5), (2, 4, 15, 1), (3, 5, 32, 16), (2, 5, 7, 7)):
        batch, length, d_model, num_heads = sizes
        what = f"the answer for batch {batch}, length {length}, {num_heads} heads"
        y, wanted = both_answers(submission, *sizes)
        require_close(y, wanted, 2e-4, what)


def both_answers(submission, batch, length, d_model, num_heads):
    """Return the student's answer and the right one for the same weights."""
    name = f"whole {d_model}"
    x, weights = normal(name, batch, length, d_model), large_weights(name, d_model)
    layer, held = build_known(submission, d_model, num_heads, **weights)
    return run(layer, x), independent_attention(x, num_heads, held)
