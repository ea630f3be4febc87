"""Public tests of exercise 1, from basic to subtle."""

import pytest
import torch
from comparison import (
    distance,
    require,
    require_close,
    require_finite,
    require_form,
    require_large,
    require_small,
    tensor_of,
)
from projections import NAMES, answer, listed, new_layer

READY_MADE = (
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.TransformerDecoderLayer",
    "torch._C._nn.scaled_dot_product_attention",
    "torch._native_multi_head_attention",
    "torch._transformer_encoder_layer_fwd",
    "torch._scaled_dot_product_attention_math",
    "torch._scaled_dot_product_flash_attention_for_cpu",
    "torch.ops.aten.scaled_dot_product_attention",
    "torch.ops.aten._scaled_dot_product_attention_math",
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu",
    "torch.ops.aten._native_multi_head_attention",
    "torch.ops.aten._transformer_encoder_layer_fwd",
    "torch.nn.attention.flex_attention.flex_attention",
)


@pytest.mark.graded(
    points="2",
    title="The layer returns one float32 tensor of the shape of its input",
    hint="What exactly does `forward` return: one tensor, with the axes of x?",
)
def test_form(submission):
    """Catches: a tuple, another dtype, an axis too many, `squeeze`, heads left unmerged.

    Only kind, dtype and shape are looked at, which every right layer has. Batches and
    sequences of 1 are in the contract.
    """
    layer = new_layer(submission, 6, 3)
    with torch.no_grad():
        for batch, length in ((4, 5), (1, 4), (4, 1)):
            x = torch.linspace(-1, 1, batch * length * 6).reshape(batch, length, 6)
            what = f"the output for x of shape {tuple(x.shape)}"
            require_form(layer(x), (batch, length, 6), what)


@pytest.mark.graded(
    points="2",
    title="The four projections Wq, Wk, Wv and Wo are as they were given",
    hint="Is the constructor still the one that was handed out?",
)
def test_projections(submission):
    """Catches: renamed, fused, per-head or late-created projections.

    The constructor is given code; whoever leaves it alone passes, its refusal to split 12
    features among 5 heads included. Additional parameters and missing biases are charged by
    the count, not here.
    """
    state = new_layer(submission, 12, 3).state_dict()
    for name in NAMES:
        weight = state.get(f"{name}.weight")
        require(weight is not None, f"there is no {name}; the layer holds {listed(state)}")
        require(
            tuple(weight.shape) == (12, 12),
            f"{name}.weight has the shape {tuple(weight.shape)}; expected (12, 12)",
        )
    try:
        submission.MultiHeadAttention(12, 5)
    except ValueError:
        return
    raise AssertionError("MultiHeadAttention(12, 5) is no ValueError any more")


@pytest.mark.graded(
    points="2",
    title="The attention is your own, not a ready-made one",
    hint="Which line asks PyTorch for a whole attention? Which four steps does it stand for?",
    flag="uses_fused_attention",
    without=READY_MADE,
)
def test_ready_made(submission):
    """Catches: PyTorch's own attention anywhere behind `MultiHeadAttention`.

    The same code runs twice, the second time with the ready-made functions out of reach. A
    right layer does not notice. A layer whose answers are random has a test of its own.
    """
    x = torch.linspace(-2, 2, 4 * 5 * 6).sin().reshape(4, 5, 6)
    layer = new_layer(submission, 6, 3)
    with torch.no_grad():
        free, again = layer(x.clone()), layer(x.clone())
        try:
            free, again = tensor_of(free, (4, 5, 6)), tensor_of(again, (4, 5, 6))
        except AssertionError:
            return  # charged by the test about form, and others
        state = {name: value.clone() for name, value in layer.state_dict().items()}
        try:
            bound = new_layer(submission.without(*READY_MADE), 6, 3)
            give(bound, state)
            result = bound(x.clone())
        except Exception as error:
            raise AssertionError(f"without ready-made attention it stops: {error}") from None
    if distance(free, again) == 0 and all(f"{name}.weight" in state for name in NAMES):
        require_close(result, free, 5e-6, "the output without ready-made attention")


def give(layer, state):
    """Load the state of another layer: of what is not alike in both, the layer keeps its own."""
    try:
        layer.load_state_dict(state)
    except Exception:
        own = layer.state_dict()
        shared = [name for name in own if name in state and own[name].shape == state[name].shape]
        layer.load_state_dict({**own, **{name: state[name] for name in shared}})


@pytest.mark.graded(
    points="4",
    title="A token looks at the other tokens and at itself",
    hint="Between which two axes are the scores: tokens and tokens, or something else?",
)
def test_token_mixing(submission):
    """Catches: no attention at all, attention among heads inside a token, a masked diagonal.

    Queries and keys are almost zero, so every token weighs all tokens nearly alike. Sequence
    0 is the base; in sequence n only token n - 1 differs. That token's own answer must move,
    and some other token's (which one is not asked: an uninvited causal mask is charged by
    the test about shuffled tokens). Only the sizes of movements are compared, so divisor,
    softmax, head order and output projection do not matter.
    """
    length, d_model = 4, 6
    x = torch.linspace(0, 9, length * d_model).sin().reshape(1, length, d_model).repeat(5, 1, 1)
    for token in range(length):
        x[token + 1, token] += torch.tensor([1.0, -2.0, 1.5, 2.0, -1.0, 2.5])
    weak, plain = (0.01 * torch.eye(d_model), 0.0), (torch.eye(d_model), 0.0)
    y = answer(submission, d_model, 3, x, Wq=weak, Wk=weak, Wv=plain, Wo=plain)
    moved = (y[1:] - y[0]).abs().amax(-1)  # (changed token, token)
    own = moved.diagonal()
    others = (moved - torch.diag(own)).amax(1)
    require_large(
        float((others / own.clamp(min=1e-9)).max()),
        0.05,
        "changing one token changes no other token's answer: the tokens do not see each other",
    )
    require_large(
        float((own / others.clamp(min=1e-9)).min()),
        0.05,
        "changing a token leaves its own answer as it was: a token does not look at itself",
    )


@pytest.mark.graded(
    points="5",
    title="When all values are equal, every token gets the same answer",
    hint="What do the weights that one token gives to all tokens add up to?",
)
def test_constant_values(submission):
    """Catches: softmax over another axis, none at all, sigmoid, weights transposed.

    All entries of all values are 10, so how heads are split, merged or masked does not
    matter. Once only the queries differ between tokens, once only the keys: then even values
    taken from the wrong projection give equal answers. Weights that sum to one for every
    token give equal rows; any other weights differ by far more than one part in five hundred.
    Tokens are ones, but for a thousandth: an added input is hardly seen.
    """
    length, d_model = 4, 15
    noise = torch.linspace(0, 40, 2 * length * d_model).cos().reshape(2, length, d_model)
    x = 1 + 1e-3 * (noise - noise.mean(-1, keepdim=True))
    # Rows that sum to zero see the differences between tokens only, equal rows the ones only.
    steps = torch.linspace(1, 60, d_model * d_model).sin().reshape(d_model, d_model)
    varied = (1e3 * (steps - steps.mean(1, keepdim=True)), 0.0)
    uneven = torch.tensor([2.0, -1.0, -2.0, 1.5, 1.0]).repeat(3)
    alike = (uneven[:, None].expand(d_model, d_model) / d_model, 0.0)
    ten, plain = (10 / d_model, 0.0), (torch.eye(d_model), 0.0)
    for name, queries, keys in (("keys", varied, alike), ("queries", alike, varied)):
        y = answer(submission, d_model, 3, x, Wq=queries, Wk=keys, Wv=ten, Wo=plain)
        require_finite(y)
        size = float(y.abs().max())
        require(size > 1e-6, "all answers are zero")
        gap = float((y - y[:, :1]).abs().max())
        require_small(
            gap / size,
            2e-3,
            f"with all values equal and all {name} equal, answers within one sequence still "
            f"differ by {gap:.3g} (they are up to {size:.3g}); expected no difference",
            spared=1e-4,
        )
