"""Public tests of exercise 5, from basic to subtle."""

import pytest
import torch
from comparison import distance, require, require_close, require_finite, require_form
from grouped_layers import (
    NAMES,
    Sizes,
    build,
    causal,
    movements,
    new_layer,
    run,
    usual_sizes,
    waves,
)

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
    points="1.5",
    title="The layer returns one float32 tensor of the shape of its input",
    hint="What exactly does `forward` return: one tensor, with the axes of x?",
)
def test_form(submission):
    """Catches: a tuple, another dtype, groups left as an axis, heads left unmerged, a mask that has
    no default.

    Only kind, dtype and shape are looked at. Batches and sequences of 1 are in the contract.
    """
    layer = new_layer(submission, usual_sizes(submission))
    with torch.no_grad():
        for batch, length in ((3, 5), (1, 4), (4, 1)):
            x = waves(batch, length, 20)
            what = f"the output for x of shape {tuple(x.shape)}"
            require_form(layer(x), (batch, length, 20), what)


@pytest.mark.graded(
    points="1.5",
    title="The four projections Wq, Wk, Wv and Wo are as they were given",
    hint="Is the constructor still the one that was handed out?",
)
def test_projections(submission):
    """Catches: keys and values of full size, renamed or fused projections, a lost refusal.

    The constructor is given code; whoever leaves it alone passes.
    """
    sizes = Sizes(20, 10, 5)
    state = new_layer(submission, sizes).state_dict()
    for name in NAMES:
        weight = state.get(f"{name}.weight")
        require(weight is not None, f"there is no {name} any more")
        require(
            tuple(weight.shape) == sizes.shape(name),
            f"{name}.weight has the shape {tuple(weight.shape)}; expected {sizes.shape(name)}",
        )
    for wrong in ((20, 6, 3), (20, 10, 4)):
        try:
            submission.GroupedQueryAttention(*wrong)
        except ValueError:
            continue
        raise AssertionError(f"GroupedQueryAttention{wrong} is no ValueError any more")


@pytest.mark.graded(
    points="1.5",
    title="The attention is your own, not a ready-made one",
    hint="Which line asks PyTorch for a whole attention? Which four steps does it stand for?",
    flag="uses_fused_attention",
    without=READY_MADE,
)
def test_ready_made(submission):
    """Catches: PyTorch's own attention anywhere behind `GroupedQueryAttention`.

    The same code runs twice, the second time with the ready-made functions out of reach. A
    right layer does not notice. Answers that are random have a test of their own.
    """
    x, sizes = 2 * waves(3, 5, 20), usual_sizes(submission)
    layer = new_layer(submission, sizes)
    try:
        free, again = run(layer, x), run(layer, x)
    except AssertionError:
        return  # charged by the test about form, and others
    state = {name: value.clone() for name, value in layer.state_dict().items()}
    try:
        bound = new_layer(submission.without(*READY_MADE), sizes)
        bound.load_state_dict(state)
        result = run(bound, x)
    except Exception as error:
        raise AssertionError(f"without ready-made attention it stops: {error}") from None
    if distance(free, again) == 0:
        require_close(result, free, 1e-5, "the output without ready-made attention")


@pytest.mark.graded(
    points="1.5",
    title="When all values are equal, every token gets the same answer",
    hint="What do the weights that one token gives to all tokens add up to?",
)
def test_constant_values(submission):
    """Catches: softmax over another axis, none at all, sigmoid.

    Every value is 1 and `Wo` hands on what it gets, so how heads share, split and merge does
    not matter: weights that add up to one for every token give ones everywhere.
    """
    sizes = usual_sizes(submission)
    given = {"Wq": (waves(20, 20), 0.5), "Wk": (waves(sizes.d_kv, 20, step=2.2), 0.0)}
    given |= {"Wv": (0.0, 1.0), "Wo": (torch.eye(20), 0.0)}
    y = run(build(submission, sizes, **given), 0.5 * waves(3, 5, 20))
    require_close(y, torch.ones(3, 5, 20), 2e-5, "the output, with values of 1 everywhere,")


@pytest.mark.graded(
    points="2",
    title="With a causal mask no token sees a later one, and the last one sees all",
    hint="Does a True in your mask let a key through, or does it hide it?",
)
def test_causal_mask(submission):
    """Catches: the mask the other way round, turned over the diagonal, or not used at all.

    One token after the other is exchanged. Only answers that must stay and answers that must
    move are looked at; how much they move is not.
    """
    sizes = usual_sizes(submission)
    layer = build(
        submission,
        sizes,
        Wq=(0.0, 0.3),
        Wk=(0.2 * waves(sizes.d_kv, 20), 0.0),
        Wv=(waves(sizes.d_kv, 20, step=2.3), 0.0),
        Wo=(torch.eye(20), 0.0),
    )
    moved = movements(layer, waves(4, 20), causal(4))
    require_finite(moved, "the output with a causal mask")
    later = float(moved.triu(1).max())
    require(later < 1e-4, "exchanging a later token changes the answers of earlier ones")
    require(float(moved[-1].min()) > 1e-3, "the last token does not see all tokens before it")
