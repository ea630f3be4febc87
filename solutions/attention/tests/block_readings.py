"""All ways to read the weights of an attention that somebody else has written."""

import itertools
from collections.abc import Iterator, Mapping

import torch
from block_weights import Parts, as_matrix, is_matrix_with_axes
from torch import Tensor

Layer = tuple[Tensor, Tensor]
"""Weight (rows, d_model), as in nn.Linear, and bias (rows,)."""
Reading = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


def readings(
    state: Mapping[str, Tensor], parts: Parts, d_model: int, num_heads: int
) -> Iterator[Reading]:
    """Yield every (Wq, bq, Wk, bk, Wv, bv, Wo, bo) that these weights may stand for.

    Four projections in any roles; one for two or three roles, with the features of a role
    or of a head together; one for each role and head. Each is a layer, or a bare matrix that
    is multiplied from the right. A missing bias is zero; up to two layers may be idle.
    """
    for bare in (False, True):
        layers = [as_layer(state, name, parts, d_model, bare) for name in parts.weights]
        for four in joined(layers, d_model, num_heads):
            for wq, wk, wv, wo in itertools.permutations(four, 4):
                yield (*wq, *wk, *wv, *wo)


def as_layer(
    state: Mapping[str, Tensor], name: str, parts: Parts, d_model: int, bare: bool
) -> Layer:
    """Return one weight in the form of nn.Linear's, with its bias."""
    weight = state[name].double()
    if is_matrix_with_axes(weight, d_model):
        # Heads before features, as in (num_heads, d_k, d_model), are rows from either side.
        is_stack = weight.dim() == 3 and d_model in weight.shape[-2:]
        if not is_stack or (bare and weight.shape[-2] != d_model):
            weight = as_matrix(weight, d_model)
    if weight.shape[-1] != d_model or (bare and weight.shape[-2] == d_model):
        weight = weight.transpose(-2, -1)
    weight = weight.flatten(0, -2)  # heads that are an axis of their own come one after another
    bias = torch.zeros(len(weight)).double()
    if name in parts.biases:
        bias = state[parts.biases[name]].double().flatten()
    return weight, bias


def joined(layers: list[Layer], d_model: int, num_heads: int) -> Iterator[list[Layer]]:
    """Yield four to six projections of d_model rows, for each layout that the sizes allow."""
    d_k = d_model // num_heads
    if any(len(weight) != len(bias) or weight.shape[1] != d_model for weight, bias in layers):
        return
    whole = [layer for layer in layers if len(layer[0]) == d_model]
    heads = [layer for layer in layers if len(layer[0]) == d_k]
    fused = [layer for layer in layers if len(layer[0]) in (2 * d_model, 3 * d_model)]
    if len(whole) + len(heads) + len(fused) != len(layers):
        return
    if 4 <= len(whole) <= 6 and len(layers) == len(whole):
        yield whole
    count = len(fused[0][0]) // d_model if fused else 0
    if len(fused) == 1 and not heads and 4 <= count + len(whole) <= 6:
        layouts = (count, num_heads, d_k), (num_heads, count, d_k), (num_heads, d_k, count)
        for axis, layout in enumerate(layouts):
            weights, biases = (t.unflatten(0, layout).unbind(axis) for t in fused[0])
            roles = zip(weights, biases, strict=True)
            yield [(weight.flatten(0, 1), bias.flatten()) for weight, bias in roles] + whole
    if len(heads) == 3 * num_heads and len(whole) == 1 and not fused:
        yield [stacked(heads[role::3]) for role in range(3)] + whole  # head after head
        by_role = [heads[n : n + num_heads] for n in range(0, 3 * num_heads, num_heads)]
        yield [stacked(group) for group in by_role] + whole


def stacked(layers: list[Layer]) -> Layer:
    """Return several layers as one that gives their results one after another."""
    return torch.cat([weight for weight, _ in layers]), torch.cat([bias for _, bias in layers])


def attend(
    x: Tensor, num_heads: int, wq: Tensor, bq: Tensor, wk: Tensor, bk: Tensor,
    wv: Tensor, bv: Tensor, wo: Tensor, bo: Tensor,
) -> Tensor:  # fmt: skip
    """Return multi-head self-attention of `x` (batch, length, d_model), plainly, in float64."""
    d_k = x.shape[-1] // num_heads
    queries, keys, values = x @ wq.T + bq, x @ wk.T + bk, x @ wv.T + bv
    found = []
    for head in range(num_heads):
        own = slice(head * d_k, (head + 1) * d_k)
        scores = queries[..., own] @ keys[..., own].mT / d_k**0.5  # (batch, length, length)
        weights = scores.sub(scores.amax(-1, keepdim=True)).exp()
        found.append(weights / weights.sum(-1, keepdim=True) @ values[..., own])
    return torch.cat(found, -1) @ wo.T + bo
