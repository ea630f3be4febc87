"""Finds out what a block does to embeddings and positions, whatever its attention is like.

The embeddings are chosen so that, with positions added, the attention receives what a probe
wants it to receive; the answers then tell whether it did.
"""

import math
from typing import Any

import torch
from block_weights import (
    BATCH,
    D_K,
    D_MODEL,
    LENGTH,
    NUM_HEADS,
    ROOM,
    TOKENS,
    VOCAB_SIZE,
    answer,
    as_matrix,
    encoding,
    install,
    is_matrix_with_axes,
    know,
    new_block,
    numbers,
    run,
)
from comparison import distance, require
from torch import Tensor

EVEN = 1.5e-5
"""Answers that differ by less than this count as equal."""


APART = 1e-4
"""Answers to one token at two places that differ by more than this show the positions."""


def places_apart(submission: Any, tokens: Tensor, seed: int = 0) -> float:
    """Return how far the answers at places 0 and 1 of these tokens (length,), the same, differ."""
    table = 0.3 * numbers(seed + 5, VOCAB_SIZE, D_MODEL)
    y = answer(submission, table, tokens.repeat(BATCH, 1), gain=1.5, seed=seed)
    return float((y[:, 0] - y[:, 1]).abs().amax(-1).min())


def places_differ(submission: Any, tokens: Tensor, seed: int = 0) -> bool:
    """Say whether places 0 and 1 of these tokens (length,), where the same one stands, differ."""
    return places_apart(submission, tokens, seed) > APART


def unevenness(submission: Any, ratio: float, seed: int = 0) -> float:
    """Return how much the answers differ when token plus `ratio` times its encoding is the same.

    The token at place i has the embedding v - ratio * PE(i). A block that adds `ratio` times
    the encoding turns all of them into v, and a sequence of equal vectors has equal answers,
    whatever is done to it afterwards. Two such sequences are in the batch.
    """
    table = numbers(seed + 3, VOCAB_SIZE, D_MODEL)
    others = TOKENS.flip(0) + 1
    for tokens in (TOKENS, others):
        same = 0.3 * numbers(seed + int(tokens[0]), D_MODEL)
        table[tokens] = (same - ratio * encoding(LENGTH)).float()
    gain = 1 / max(1.0, abs(ratio))  # with scores far apart, all would look at one token
    y = answer(submission, table, torch.stack((TOKENS, others, TOKENS)), gain=gain, seed=seed)
    require(distance(y[0], y[1]) > 1e-6, "the answers do not depend on the tokens")
    return float((y - y[:, :1]).abs().max()) / gain**4  # a way leads through four weights


def implied_ratio(submission: Any, seed: int = 0) -> float | None:
    """Return how often the encoding is added for each time that the embedding is, if that shows."""
    root = math.sqrt(D_MODEL)
    factors = (2, 3, root, D_MODEL, math.sqrt(D_K), math.sqrt(2))
    if unevenness(submission, 1.0, seed) < EVEN:
        return 1.0
    ratios = (0.0, *factors, *(1 / n for n in factors), -1.0, -root, -1 / root)
    gap, ratio = min((unevenness(submission, ratio, seed), ratio) for ratio in ratios)
    return ratio if gap < EVEN else None


def passed_on(submission: Any, size: float, woven: bool = False) -> Tensor:
    """Return how much of embeddings of that size arrives in the answers: (batch, length).

    Every projection of the attention keeps one direction and nothing else. It is the same in
    each head, so that it does not matter which projection is which, and no encoding has a
    part in it. All embeddings are `size` times that direction: so is a right answer. `woven`
    is for one projection that makes query, key and value of a feature next to each other.
    """
    direction = unseen_by_positions()
    table = (size * direction).repeat(VOCAB_SIZE, 1)
    keep = torch.outer(direction, direction)

    def ask(max_len: int) -> Tensor:
        block = new_block(submission, VOCAB_SIZE, D_MODEL, NUM_HEADS, max_len)
        state, parts = know(block, VOCAB_SIZE, D_MODEL, NUM_HEADS)
        fill = {name: shaped(keep, state[name], woven) for name in parts.weights}
        fill |= {bias: torch.zeros_like(state[bias]) for bias in parts.biases.values()}
        install(block, parts, state, table, fill)
        return run(block, TOKENS.repeat(BATCH, 1)) @ direction

    try:
        return ask(ROOM)
    except NotImplementedError:
        raise
    except Exception:
        return ask(LENGTH)


def shaped(keep: Tensor, old: Tensor, woven: bool) -> Tensor:
    """Return the symmetric (d_model, d_model) matrix `keep`, cut or repeated to fit `old`."""
    if is_matrix_with_axes(old, D_MODEL):
        return shaped(keep, as_matrix(old, D_MODEL), woven).reshape(old.shape)
    turned = old.shape[-1] != D_MODEL
    rows = old.shape[-1] if turned else old.shape[-2]
    times = math.ceil(rows / D_MODEL)
    new = (keep.repeat_interleave(times, 0) if woven else keep.repeat(times, 1))[:rows]
    return (new.T if turned else new).expand(old.shape).clone()


def unseen_by_positions() -> Tensor:
    """Return a unit vector (d_model,), alike in all heads, at right angles to the encodings."""
    folded = encoding(LENGTH + 1).unflatten(-1, (NUM_HEADS, D_K)).sum(1)  # (length + 1, d_k)
    free = torch.linalg.svd(folded).Vh[LENGTH + 1 :]  # at right angles to all rows
    part = free.T @ (free @ torch.linspace(-1, 2, D_K, dtype=torch.float64))
    return (part / part.norm() / math.sqrt(NUM_HEADS)).repeat(NUM_HEADS).float()
