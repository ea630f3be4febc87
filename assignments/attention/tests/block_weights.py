"""Builds a student's attention block with weights that a test has chosen.

A block may name its parts as it likes and use any attention, so weights are found by kind
and shape: the embedding is the parameter of shape (vocab_size, d_model), and what else can be
trained and is made of d_model's belongs to the attention. Most tests need to know no more:
they choose embeddings so that, with positions added, the attention receives what they want.
"""

import math
from typing import Any, NamedTuple

import torch
from comparison import (
    first_tensor,
    require,
    require_finite,
    require_module,
    tensor_of,
)
from remembered import Known, copied, like_first
from torch import Tensor

VOCAB_SIZE, D_MODEL, NUM_HEADS, D_K = 31, 20, 2, 10  # sizes that differ tell parts apart
LENGTH, BATCH = 4, 3
ROOM = 50  # more positions than these tests need, and more than there are tokens
TOKENS = torch.tensor([17, 5, 28, 11])  # (length,): all different, none of them 0


class Parts(NamedTuple):
    """Names in a block's state: who holds what."""

    tables: list[str]
    weights: list[str]
    biases: dict[str, str]  # weight -> its bias


def numbers(seed: int, *shape: int) -> Tensor:
    """Return standard normal numbers, the same for the same seed."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def encoding(length: int, d_model: int = D_MODEL) -> Tensor:
    """Return the table of the handout, worked out in float64 one number at a time."""
    rows = [
        [
            (math.cos if column % 2 else math.sin)(pos / 10000 ** (column // 2 * 2 / d_model))
            for column in range(d_model)
        ]
        for pos in range(length)
    ]
    return torch.tensor(rows, dtype=torch.float64)


def new_block(submission: Any, *sizes: int) -> Any:
    """Return AttentionBlock(*sizes), having made sure that it is a module."""
    block = submission.AttentionBlock(*sizes)
    require_module(block, "AttentionBlock(...)")
    return block


def parts_of(
    block: Any,
    vocab_size: int = VOCAB_SIZE,
    d_model: int = D_MODEL,
    num_heads: int = NUM_HEADS,
) -> Parts:
    """Find the embedding and the weights of the attention by their shapes."""
    own = dict(block.named_parameters())
    of_tokens = (vocab_size, d_model), (d_model, vocab_size)  # as in nn.Embedding, in nn.Linear
    tables = [name for name, p in own.items() if tuple(p.shape) in of_tokens]
    sizes = {d_model, 2 * d_model, 3 * d_model, d_model // num_heads}
    weights = [
        name
        for name, p in own.items()
        if name not in tables
        and p.requires_grad
        and (has_matrices(p, d_model, sizes) or is_matrix_with_axes(p, d_model))
    ]
    if not tables:  # sized by another number: the count of parameters says so
        tables = [
            name
            for name, p in own.items()
            if name not in weights and p.requires_grad and p.dim() == 2 and p.shape[1] == d_model
        ][:1]
    return Parts(tables, weights, paired(weights, own, d_model))


def has_matrices(p: Tensor, d_model: int, sizes: set[int]) -> bool:
    """Say whether a parameter is a projection's matrix, or several one after another."""
    ends = set(p.shape[-2:])
    return p.dim() in (2, 3) and d_model in ends and ends <= sizes


def is_matrix_with_axes(p: Tensor, d_model: int) -> bool:
    """Say whether a parameter is whole projections whose features have axes of their own.

    Such as (d_model, num_heads, d_k), (3, num_heads, d_k, d_model), or a convolution's
    (3 d_model, d_model, 1).
    """
    shape = [size for size in p.shape if size != 1]
    is_whole = p.numel() in (d_model**2, 2 * d_model**2, 3 * d_model**2)
    return p.dim() > 2 and len(shape) > 1 and is_whole and d_model in (shape[0], shape[-1])


def as_matrix(weight: Tensor, d_model: int) -> Tensor:
    """Return such a parameter as a matrix: (rows, d_model), or else (d_model, rows)."""
    last = [size for size in weight.shape if size != 1][-1]
    return weight.reshape(-1, d_model) if last == d_model else weight.reshape(d_model, -1)


def paired(weights: list[str], own: dict[str, Tensor], d_model: int) -> dict[str, str]:
    """Return each weight's bias: the one of the same name, or else the next of a size that fits."""
    pairs = {}
    for weight in weights:
        bias = f"{weight.removesuffix('weight')}bias"
        if weight.endswith("weight") and bias in own:
            pairs[weight] = bias
    free = [
        name
        for name, p in own.items()
        if name not in (*weights, *pairs.values()) and not name.endswith((".weight", ".bias"))
    ]  # bare parameters, not those of a layer
    for weight in weights:
        rows = own[weight].numel() // d_model
        fits = [
            name
            for name in free
            if (own[name].dim() == 1 and len(own[name]) in own[weight].shape)
            or (own[name].dim() > 1 and own[name].numel() == rows)
        ]
        if weight not in pairs and fits:
            pairs[weight] = fits[0]
            free.remove(fits[0])
    return pairs


def build(
    submission: Any,
    table: Tensor,
    max_len: int,
    gain: float = 2.0,
    num_heads: int = NUM_HEADS,
    seed: int = 0,
) -> Any:
    """Return a block in evaluation mode, as `build_known` does, and no more."""
    return build_known(submission, table, max_len, gain, num_heads, seed)[0]


def build_known(
    submission: Any,
    table: Tensor,
    max_len: int,
    gain: float = 2.0,
    num_heads: int = NUM_HEADS,
    seed: int = 0,
) -> tuple[Any, Parts, dict[str, Tensor]]:
    """Return a block with `table` (vocab_size, d_model) as its embedding, its parts and its state.

    The attention gets weights of spread gain / sqrt(d_model), the same for the same block
    and seed: large enough that tokens differ in what they look at. What else there is stays
    as it is.
    """
    block, known = known_block(submission, *table.shape, num_heads, max_len)
    try:
        given = fill_block(block, known, table, gain, seed)
    except Exception:  # it is not like the first one of its size
        known = know(block, *table.shape, num_heads)
        given = fill_block(block, known, table, gain, seed)
    return block, known.parts, given


def known_block(
    submission: Any, vocab_size: int, d_model: int, num_heads: int, max_len: int
) -> tuple[Any, Known]:
    """Return a new block, and what is known of it: the same as of the first one of its size."""
    sizes = (vocab_size, d_model, num_heads, max_len)
    block = new_block(submission, *sizes)
    look = lambda: know(block, vocab_size, d_model, num_heads)  # noqa: E731
    return block, like_first(submission, ("AttentionBlock", *sizes), look, names_of_parts)


def names_of_parts(known: Known) -> list[str]:
    """Name all that holds the table, or the attention's weights."""
    parts = known.parts
    return [*parts.tables, *parts.weights, *parts.biases.values()]


def know(block: Any, vocab_size: int, d_model: int, num_heads: int) -> Known:
    """Find out what a block is made of."""
    parts, state = parts_of(block, vocab_size, d_model, num_heads), copied(block.state_dict())
    known = Known(state, parts)
    missing = [name for name in names_of_parts(known) if name not in state]
    require(not missing, f"state_dict() of the block lacks its parameters {', '.join(missing[:3])}")
    return known


def fill_block(
    block: Any, known: Known, table: Tensor, gain: float, seed: int
) -> dict[str, Tensor]:
    """Give a block its table, and random weights to its attention; return its state."""
    (state, parts), d_model = known, table.shape[1]
    generator = torch.Generator().manual_seed(seed)
    fill = {}
    for name in parts.weights:
        spread = gain / math.sqrt(d_model)
        fill[name] = torch.randn(state[name].shape, generator=generator) * spread
        if name in parts.biases:
            bias = parts.biases[name]
            fill[bias] = torch.randn(state[bias].shape, generator=generator) * gain / 2
    return install(block, parts, state, table, fill)


def install(
    block: Any, parts: Parts, state: dict[str, Tensor], table: Tensor, fill: dict[str, Tensor]
) -> dict[str, Tensor]:
    """Put the table and the weights in `fill` into a block, under every name they have.

    Returns the state that the block has been given.
    """
    shape = tuple(table.shape)
    require(bool(parts.tables), f"there is no embedding: no parameter has the shape {shape}")
    fill = dict(fill)
    for name in parts.tables:
        fill[name] = fitted(table, state[name])
        bias = f"{name.removesuffix('weight')}bias"
        if bias in state and name.endswith("weight"):
            fill[bias] = torch.zeros_like(state[bias])
    again = {
        name: fill[other]
        for name, old in state.items()
        for other in fill
        if name not in fill and old.shape == state[other].shape and torch.equal(old, state[other])
    }  # second names of the same tensors
    given = state | again | fill
    block.load_state_dict(given)
    block.eval()
    return given


def fitted(table: Tensor, old: Tensor) -> Tensor:
    """Return `table` in the shape of `old`: turned, cut, or followed by zeros if need be."""
    if old.shape == table.T.shape:
        return table.T.clone()
    new = torch.zeros_like(old)
    rows = min(len(old), len(table))
    new[:rows] = table[:rows]
    return new


def working(submission: Any, table: Tensor, tokens: Tensor, **options: Any) -> tuple[Any, Any]:
    """Return a block that takes `tokens`, and what it returned for them.

    First with many more positions than tokens, then with exactly as many: which lengths a
    block takes has tests of its own.
    """
    try:
        block, result = attempt(submission, table, tokens, max_len=ROOM, **options)
        if ROOM not in getattr(result, "shape", ()):  # a single token, and all positions added
            return block, result
    except NotImplementedError:
        raise
    except Exception:
        pass
    return attempt(submission, table, tokens, max_len=tokens.shape[1], **options)


def attempt(submission: Any, table: Tensor, tokens: Tensor, **options: Any) -> tuple[Any, Any]:
    """Return a new block and what it returns for a copy of `tokens`."""
    block = build(submission, table, **options)
    with torch.no_grad():
        return block, block(tokens.clone())


def run(block: Any, tokens: Tensor, d_model: int = D_MODEL) -> Tensor:
    """Return a block's answer, without gradients: (batch, length, d_model)."""
    with torch.no_grad():
        return seen(block(tokens.clone()), tokens, d_model)


def seen(result: object, tokens: Tensor, d_model: int = D_MODEL) -> Tensor:
    """Return what a block returned as a finite tensor (batch, length, d_model).

    Batch and length exchanged are charged by the test about form.
    """
    y, (batch, length) = first_tensor(result), tokens.shape
    if batch != length and tuple(y.shape) == (length, batch, d_model):
        y = y.transpose(0, 1)
    y = tensor_of(y, (batch, length, d_model))
    require_finite(y)
    return y


def answer(submission: Any, table: Tensor, tokens: Tensor, **options: Any) -> Tensor:
    """Return what a new block makes of `tokens`: (batch, length, d_model)."""
    _, result = working(submission, table, tokens, **options)
    return seen(result, tokens, table.shape[1])
