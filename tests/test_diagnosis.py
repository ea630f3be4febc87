"""Diagnosis: wrong programs, written as students write them, are named for what is wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812 - as everyone writes it
from torch import Tensor, nn

from autograder.diagnosis import Diagnosis, diagnose, run_probe
from autograder.errors import KitError
from autograder.fault_figures import APART, measure
from autograder.fault_table import DIGITS, Table, digest
from autograder.faults import (
    Axis,
    Dictionary,
    Fault,
    Step,
    combinations,
    load_dictionaries,
    mutant,
)

SOLUTION = Path(__file__).parents[1] / "solutions" / "attention"
Forward = Callable[[Any, Tensor], Any]


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Table]:
    cache = tmp_path_factory.mktemp("cache")
    return {
        name: Table.of(dictionary, cache)
        for name, dictionary in load_dictionaries(SOLUTION).items()
    }


def named(table: Table, **submission: Any) -> list[list[str]] | None:
    """Ids of the faults found, for each alternative."""
    found = diagnose(table.dictionary, SimpleNamespace(**submission), table)
    return found and [[fault.id for fault in faults] for faults in found.alternatives]


# --- attention ------------------------------------------------------------------------------------


class Layer(nn.Module):
    """The given constructor; the forwards below are what students put under it."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.h, self.d_k = num_heads, d_model // num_heads
        self.Wq, self.Wk, self.Wv, self.Wo = (nn.Linear(d_model, d_model) for _ in range(4))


def heads(self: Any, t: Tensor) -> Tensor:
    return t.view(t.size(0), t.size(1), self.h, self.d_k).transpose(1, 2)


def joined(t: Tensor) -> Tensor:
    return t.transpose(1, 2).reshape(t.size(0), t.size(2), -1)


def usual(self: Any, x: Tensor, **change: Any) -> Any:
    """A plain layer in which one line can be exchanged."""
    q, k, v = (heads(self, w(x)) for w in (self.Wq, self.Wk, self.Wv))
    scores = q @ k.transpose(-2, -1) / change.get("divisor", math.sqrt(self.d_k))
    scores = change.get("mask", lambda s: s)(scores)
    weights = change.get("normalise", lambda s: s.softmax(-1))(scores)
    out = change.get("merge", joined)(weights @ v)
    return out if change.get("bare") else self.Wo(out)


def by_einsum(self: Any, x: Tensor) -> Any:
    b, length, d = x.shape
    q, k, v = (w(x).reshape(b, length, self.h, self.d_k) for w in (self.Wq, self.Wk, self.Wv))
    a = torch.einsum("bqhd,bkhd->bhqk", q, k).mul(self.d_k**-0.5).softmax(-1)
    return self.Wo(torch.einsum("bhqk,bkhd->bqhd", a, v).reshape(b, length, d)).double(), a


def viewed(self: Any, x: Tensor) -> Any:
    b, length, d = x.size()
    q = self.Wq(x).view(b, self.h, length, self.d_k)
    k = self.Wk(x).view(b, self.h, length, self.d_k)
    v = self.Wv(x).view(b, self.h, length, self.d_k)
    out = F.scaled_dot_product_attention(q, k, v)
    return self.Wo(out.transpose(1, 2).contiguous().view(b, length, d))


def one_head(self: Any, x: Tensor) -> Any:
    q, k, v = self.Wq(x), self.Wk(x), self.Wv(x)
    return self.Wo(torch.softmax(torch.bmm(q, k.transpose(1, 2)) / self.d_k**0.5, dim=2) @ v)


def untransposed(self: Any, x: Tensor) -> Any:
    b, length, d = x.shape
    q, k, v = (w(x).view(b, length, self.h, self.d_k) for w in (self.Wq, self.Wk, self.Wv))
    a = F.softmax(q @ k.transpose(-1, -2) / math.sqrt(self.d_k), -1)
    return self.Wo((a @ v).view(b, length, d))


def loop_overwrites(self: Any, x: Tensor) -> Any:
    out = torch.zeros_like(x)
    for i in range(self.h):
        part = slice(i * self.d_k, (i + 1) * self.d_k)
        q, k, v = self.Wq(x)[..., part], self.Wk(x)[..., part], self.Wv(x)[..., part]
        out[..., : self.d_k] = (q @ k.mT / self.d_k**0.5).softmax(-1) @ v
    return self.Wo(out)


def wo_in_loop(self: Any, x: Tensor) -> Any:
    total = torch.zeros_like(x)
    for i in range(self.h):
        part = slice(i * self.d_k, (i + 1) * self.d_k)
        q, k, v = self.Wq(x)[..., part], self.Wk(x)[..., part], self.Wv(x)[..., part]
        full = torch.zeros_like(x)
        full[..., part] = (q @ k.mT / self.d_k**0.5).softmax(-1) @ v
        total = total + self.Wo(full)
    return total


def keys_by_view(self: Any, x: Tensor) -> Any:
    b, length, _ = x.shape
    q, k, v = (heads(self, w(x)) for w in (self.Wq, self.Wk, self.Wv))
    scores = q @ k.reshape(b, self.h, self.d_k, length) / self.d_k**0.5
    return self.Wo(joined(scores.softmax(-1) @ v))


def typo_in_v(self: Any, x: Tensor) -> Any:
    q, k, v = heads(self, self.Wq(x)), heads(self, self.Wk(x)), heads(self, self.Wk(x))
    return self.Wo(joined(F.softmax(q @ k.mT / math.sqrt(self.d_k), dim=-1) @ v))


def swapped(self: Any, x: Tensor) -> Any:
    q, k, v = heads(self, self.Wq(x)), heads(self, self.Wk(x)), heads(self, self.Wv(x))
    return self.Wo(joined(F.softmax(k @ q.mT / math.sqrt(self.d_k), dim=-1) @ v))


def batch_second(self: Any, x: Tensor) -> Any:
    layer = nn.MultiheadAttention(x.size(-1), self.h)
    layer.in_proj_weight.data = torch.cat([w.weight for w in (self.Wq, self.Wk, self.Wv)])
    layer.in_proj_bias.data = torch.cat([w.bias for w in (self.Wq, self.Wk, self.Wv)])
    layer.out_proj.weight, layer.out_proj.bias = self.Wo.weight, self.Wo.bias
    return layer(x, x, x)


def causal(s: Tensor) -> Tensor:
    return s.masked_fill(torch.ones_like(s).triu(1).bool(), float("-inf"))


def ignoring(value: Any) -> Forward:
    return lambda self, x: value


ATTENTION: dict[str, tuple[Forward, list[list[str]] | None]] = {
    "right": (usual, [[]]),
    "right, in a tuple, in double": (by_einsum, [[]]),
    "no divisor": (lambda s, x: usual(s, x, divisor=1), [["scale_missing"]]),
    "sqrt(d_model)": (lambda s, x: usual(s, x, divisor=x.size(-1) ** 0.5), [["scale_d_model"]]),
    "d_k": (lambda s, x: usual(s, x, divisor=s.d_k), [["scale_d_k"]]),
    "sqrt(length)": (lambda s, x: usual(s, x, divisor=x.size(1) ** 0.5), [["scale_length"]]),
    "dim=1": (lambda s, x: usual(s, x, normalise=lambda a: a.softmax(1)), [["softmax_over_heads"]]),
    "dim=2": (
        lambda s, x: usual(s, x, normalise=lambda a: a.softmax(2)),
        [["softmax_over_queries"]],
    ),
    "after": (
        lambda s, x: usual(s, x, divisor=1, normalise=lambda a: a.softmax(-1) / s.d_k**0.5),
        [["scale_after_softmax"]],
    ),
    "sigmoid": (lambda s, x: usual(s, x, normalise=torch.sigmoid), [["softmax_is_sigmoid"]]),
    "view": (viewed, [["split_by_view"]]),
    "one head": (one_head, [["split_missing"]]),
    "heads attend": (untransposed, [["heads_attend_to_each_other"]]),
    "reshape": (
        lambda s, x: usual(s, x, merge=lambda t: t.reshape(x.shape)),
        [["merge_without_transpose"]],
    ),
    "summed": (
        lambda s, x: usual(s, x, merge=lambda t: t.sum(1).repeat(1, 1, s.h)),
        [["merge_sum"]],
    ),
    "overwritten": (loop_overwrites, [["merge_overwritten"]]),
    "Wo in the loop": (wo_in_loop, [["output_per_head"]]),
    "no Wo": (lambda s, x: usual(s, x, bare=True), [["output_missing"]]),
    "Wo twice": (lambda s, x: s.Wo(usual(s, x)), [["output_twice"]]),
    "k.view": (keys_by_view, [["keys_transposed_by_view"]]),
    "typo": (typo_in_v, [["values_from_wk"]]),
    "k @ q": (swapped, [["queries_keys_swapped"]]),
    "no batch_first": (batch_second, [["attends_over_batch"]]),
    "causal": (lambda s, x: usual(s, x, mask=causal), [["mask_causal"]]),
    "residual": (lambda s, x: x + usual(s, x), [["residual"]]),
    "residual and norm": (
        lambda s, x: F.layer_norm(x + usual(s, x), x.shape[-1:]),
        [["residual", "finish_normalised"]],
    ),
    "heads returned": (
        lambda s, x: usual(s, x, merge=lambda t: t, bare=True),
        [["returns_heads"]],
    ),
    "queries and no Wo": (
        lambda s, x: usual(s, x, normalise=lambda a: a.softmax(-2), bare=True),
        [["softmax_over_queries", "output_missing"]],
    ),
    "three at once": (
        lambda s, x: usual(
            s, x, divisor=1, mask=causal, merge=lambda t: t.reshape(x.shape), bare=False
        ),
        [["scale_missing", "mask_causal", "merge_without_transpose"]],
    ),
    "unknown: cosines": (lambda s, x: usual(s, x).cos(), None),
    "unknown: noise": (lambda s, x: torch.randn_like(x), None),
    "unknown: divisor": (lambda s, x: usual(s, x, divisor=1.37), None),
    "NaN": (lambda s, x: usual(s, x) * float("nan"), None),
    "other shape": (lambda s, x: usual(s, x)[..., :4], None),
    "None": (ignoring(None), None),
    "text": (ignoring("done"), None),
    "complex": (ignoring(torch.zeros(2, 5, 18, dtype=torch.complex64)), None),
    "raises": (lambda s, x: x @ x, None),
}


@pytest.mark.parametrize("case", ATTENTION)
def test_attention(case: str, tables: dict[str, Table]) -> None:
    forward, expected = ATTENTION[case]
    layer = type("MultiHeadAttention", (Layer,), {"forward": forward})
    assert named(tables["multi_head_attention"], MultiHeadAttention=layer) == expected


# --- encoding -------------------------------------------------------------------------------------


def loops(max_len: int, d_model: int, exponent: Callable[[int, int], float], first: int = 0) -> Any:
    """The table filled entry by entry; `exponent` gets the column and d_model."""
    table = np.zeros((max_len, d_model))
    for pos in range(max_len):
        for column in range(d_model):
            angle = (pos + first) / 10000 ** exponent(column, d_model)
            table[pos, column] = math.sin(angle) if column % 2 == 0 else math.cos(angle)
    return table


def tensors(max_len: int, d_model: int, divide_by: Any = None) -> tuple[Tensor, Tensor]:
    position = torch.arange(max_len).float().unsqueeze(1)
    rate = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / (divide_by or d_model)))
    return torch.sin(position * rate), torch.cos(position * rate)


def interleaved(even: Tensor, odd: Tensor) -> Tensor:
    table = torch.zeros(even.size(0), 2 * even.size(1))
    table[:, 0::2], table[:, 1::2] = even, odd
    return table


def pair(c: int, d: int) -> float:
    return (c - c % 2) / d


def overwritten(n: int, d: int) -> Any:
    table = np.arange(n)[:, None] / np.power(10000.0, 2 * (np.arange(d) // 2) / d)
    table[:, 0::2] = np.sin(table[:, 0::2])
    table[:, 1:2] = np.cos(table[:, 1:2])
    return table


ENCODING: dict[str, tuple[Callable[[int, int], Any], list[list[str]] | None]] = {
    "right": (lambda n, d: loops(n, d, pair), [[]]),
    "right, (1, n, d)": (lambda n, d: interleaved(*tensors(n, d))[None], [[]]),
    "rounded": (lambda n, d: np.round(loops(n, d, pair), 5), [[]]),
    "2 * i of an even i": (
        lambda n, d: loops(n, d, lambda c, d: 2 * pair(c, d)),
        [["exponent_doubled"]],
    ),
    "column": (lambda n, d: loops(n, d, lambda c, d: c / d), [["exponent_per_column"]]),
    "2 * column": (
        lambda n, d: loops(n, d, lambda c, d: 2 * c / d),
        [["exponent_per_column_doubled"]],
    ),
    "from 1": (lambda n, d: loops(n, d, pair, first=1), [["position_from_one"]]),
    "halves": (lambda n, d: torch.cat(tensors(n, d), 1), [["layout_halves"]]),
    "halves, cosines first": (
        lambda n, d: torch.cat(tensors(n, d)[::-1], 1),
        [["sine_cosine_swapped", "layout_halves"]],
    ),
    "swapped": (lambda n, d: interleaved(*tensors(n, d)[::-1]), [["sine_cosine_swapped"]]),
    "sines only": (lambda n, d: interleaved(*2 * tensors(n, d)[:1]), [["sine_only"]]),
    "over max_len": (lambda n, d: interleaved(*tensors(n, d, n)), [["exponent_over_max_len"]]),
    "transposed": (lambda n, d: interleaved(*tensors(n, d)).T, [["transposed"]]),
    "one row more": (lambda n, d: interleaved(*tensors(n + 1, d)), [["rows_one_more"]]),
    "1:2": (overwritten, [["cosine_in_one_column"]]),
    "exp without log": (
        lambda n, d: interleaved(*tensors(n, d, d * math.log(10000))),
        [["base_e"]],
    ),
    "row 0": (
        lambda n, d: loops(n, d, pair) * (np.arange(n) > 0)[:, None],
        [["row_zero_zeroed"]],
    ),
    "halves and from 1": (
        lambda n, d: torch.cat(tensors(n + 1, d), 1)[1:],
        [["position_from_one", "layout_halves"]],
    ),
    "column and from 1, transposed": (
        lambda n, d: loops(n, d, lambda c, d: c / d, first=1).T,
        [["position_from_one", "exponent_per_column", "transposed"]],
    ),
    "half": (lambda n, d: interleaved(*tensors(n, d)).half(), [["table_half_precision"]]),
    "learned": (lambda n, d: nn.Embedding(n, d).weight, None),
    "unknown base": (lambda n, d: loops(n, d, lambda c, d: 1.1 * pair(c, d)), None),
}


@pytest.mark.parametrize("case", ENCODING)
def test_encoding(case: str, tables: dict[str, Table]) -> None:
    function, expected = ENCODING[case]
    assert named(tables["positional_encoding"], positional_encoding=function) == expected


# --- block ----------------------------------------------------------------------------------------


class Block(nn.Module):
    """A block with PyTorch's attention."""

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, max_len: int = 512) -> None:
        super().__init__()
        self.words = nn.Embedding(vocab_size, d_model)
        self.register_buffer("table", interleaved(*tensors(max_len, d_model)))
        self.attn = nn.MultiheadAttention(d_model, num_heads, batch_first=True)


class OwnBlock(nn.Module):
    """A block with projections of its own, under other names."""

    def __init__(self, vocab_size: int, d_model: int, num_heads: int, max_len: int = 512) -> None:
        super().__init__()
        self.n, self.embed = num_heads, nn.Embedding(vocab_size, d_model, padding_idx=0)
        self.to_query, self.key_proj = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.W_v, self.fc_out = nn.Linear(d_model, d_model), nn.Linear(d_model, d_model)
        self.norm = nn.LayerNorm(d_model)
        self.pe = interleaved(*tensors(max_len, d_model))

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embed(ids) + self.pe[: ids.size(1)]
        q, k, v = (
            w(x).unflatten(-1, (self.n, -1)).transpose(1, 2)
            for w in (self.to_query, self.key_proj, self.W_v)
        )
        a = (q @ k.mT / q.size(-1) ** 0.5).softmax(-1)
        return self.norm(x + self.fc_out(joined(a @ v)))


def with_positions(self: Any, ids: Tensor) -> Tensor:
    placed: Tensor = self.words(ids) + self.table[: ids.size(1)]
    return placed


def attends(self: Any, x: Tensor, **options: Any) -> Any:
    return self.attn(x, x, x, **options)[0]


def on_queries_and_keys(self: Any, ids: Tensor) -> Any:
    x = with_positions(self, ids)
    return self.attn(x, x, self.words(ids), need_weights=False)[0]


def over_the_batch(self: Any, ids: Tensor) -> Any:
    self.attn.batch_first = False
    return attends(self, with_positions(self, ids))


def masked(self: Any, ids: Tensor) -> Any:
    later = torch.triu(torch.ones(ids.size(1), ids.size(1)), 1).bool()
    return attends(self, with_positions(self, ids), attn_mask=later)


BLOCK: dict[str, tuple[Forward, list[list[str]] | None]] = {
    "right": (lambda s, ids: attends(s, with_positions(s, ids)), [[]]),
    "no positions": (lambda s, ids: attends(s, s.words(ids)), [["positions_missing"]]),
    "twice": (
        lambda s, ids: attends(s, with_positions(s, ids) + s.table[: ids.size(1)]),
        [["positions_twice"]],
    ),
    "embedding twice": (
        lambda s, ids: attends(s, s.words(ids) + with_positions(s, ids)),
        [["positions_and_embedding_twice"]],
    ),
    "along the batch": (
        lambda s, ids: attends(s, s.words(ids) + s.table[: ids.size(0)].unsqueeze(1)),
        [["positions_over_batch"]],
    ),
    "scaled": (
        lambda s, ids: attends(
            s, s.words(ids) * math.sqrt(s.words.embedding_dim) + s.table[: ids.size(1)]
        ),
        [["embedding_scaled"]],
    ),
    "afterwards": (
        lambda s, ids: attends(s, s.words(ids)) + s.table[: ids.size(1)],
        [["positions_after_attention"]],
    ),
    "not in values": (on_queries_and_keys, [["positions_not_in_values"]]),
    "no batch_first": (over_the_batch, [["attends_over_batch"]]),
    "causal": (masked, [["causal"]]),
    "no attention": (with_positions, [["attention_missing"]]),
    "weights": (
        lambda s, ids: s.attn(*3 * [with_positions(s, ids)])[1],
        [["weights_returned"]],
    ),
    "pooled": (
        lambda s, ids: attends(s, with_positions(s, ids)).mean(1),
        [["mean_returned"]],
    ),
    "residual without positions": (
        lambda s, ids: attends(s, s.words(ids)) + s.words(ids),
        [["positions_missing", "residual"], ["positions_missing", "residual_of_embedding"]],
    ),
    "unknown": (lambda s, ids: attends(s, with_positions(s, ids)).sin(), None),
}


@pytest.mark.parametrize("case", BLOCK)
def test_block(case: str, tables: dict[str, Table]) -> None:
    forward, expected = BLOCK[case]
    block = type("AttentionBlock", (Block,), {"forward": forward})
    assert named(tables["attention_block"], AttentionBlock=block) == expected


def test_block_with_projections_of_its_own(tables: dict[str, Table]) -> None:
    found = named(tables["attention_block"], AttentionBlock=OwnBlock)
    assert found == [["residual", "normalised_after"]]


# --- words ----------------------------------------------------------------------------------------


def test_words(tables: dict[str, Table]) -> None:
    faults = tables["multi_head_attention"].dictionary.faults()
    softmax, output = faults["softmax_over_queries"], faults["output_missing"]
    both = Diagnosis("multi_head_attention", ((softmax, output),))
    assert both.text == (
        "Softmax runs over the queries, and the output projection `Wo` is missing."
    )
    assert both.faults == ["softmax_over_queries", "output_missing"]
    either = Diagnosis("multi_head_attention", ((softmax,), (output,)))
    assert either.text.startswith("Either softmax runs over the queries, or the output")
    common = Diagnosis("multi_head_attention", ((softmax, output), (softmax, faults["residual"])))
    assert common.text.startswith("Softmax runs over the queries; and either the output")
    assert all(hint.endswith("?") for hint in both.hints)
    assert Diagnosis("multi_head_attention", ((),)).text == ""


def test_declarations(tables: dict[str, Table]) -> None:
    for exercise, table in tables.items():
        for fault in table.dictionary.faults().values():
            assert fault.hint.endswith("?"), fault.id
            assert fault.sentence[-1] not in ".?!", fault.id
            assert fault.sentence[0].islower() or fault.sentence[:1] in "`-W", fault.id
            assert fault.test.startswith(f"{exercise}::test_"), fault.id


# --- the table ------------------------------------------------------------------------------------


def test_figures(tables: dict[str, Table]) -> None:
    for exercise, table in tables.items():
        figures = measure(table)
        assert figures.entries + figures.left_out == len(table.rows) < 100_000
        assert figures.distinct > 0.8 * figures.entries, exercise
        # What stands close together is two combinations, or one that only rounds.
        single = {
            fault
            for _, first, second in figures.close
            for fault in first + second
            if len(first) < 2 and len(second) < 2
        }
        rounding = {"table_half_precision", "table_bfloat16", "table_three_decimals"}
        assert single <= rounding, exercise
        assert not figures.close or 1 < figures.nearest < APART


def test_every_entry_finds_itself(tables: dict[str, Table]) -> None:
    for table in tables.values():
        for shape, entries in table.entries.items():
            for number in range(0, len(entries.members), 97):
                found = table.look_up(entries.answers[:, number].reshape(shape))
                faults = table.dictionary.faults_of(table.rows[entries.members[number]])
                assert found, faults
                assert len(found[0]) <= len(faults), faults


def test_every_fault_alone_is_found(tables: dict[str, Table]) -> None:
    for table in tables.values():
        for name in table.dictionary.faults():
            found = diagnose(table.dictionary, mutant(table.dictionary, name), table)
            assert found is not None, name
            assert name in found.faults
            assert all(len(faults) == 1 for faults in found.alternatives), name


def test_mutants(tables: dict[str, Table]) -> None:
    attention = tables["multi_head_attention"].dictionary
    ids = ["values_from_x", "mask_causal", "output_missing"]
    found = diagnose(attention, mutant(attention, *ids), tables["multi_head_attention"])
    assert found is not None
    assert found.faults == ids
    layer = mutant(attention).MultiHeadAttention(8, 2)
    x = torch.randn(4, 3, 8)
    assert torch.allclose(layer(x), usual(layer, x), atol=1e-6)
    layer(x).sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())
    with pytest.raises(KitError, match="no wrong program"):
        mutant(attention, "unheard_of")


def small_dictionary(
    probe: Callable[[Any], Any], declared: tuple[Fault, ...] = (), **options: Any
) -> Dictionary:
    """Two numbers, each of which can be multiplied and shifted."""
    times = Axis("times", 1.0, (Fault("doubled", "it is doubled", "How often?", "e::t", 2.0),))
    plus = Axis(
        "plus",
        0.0,
        (
            Fault("raised", "one is added", "What is added?", "e::t", 1.0),
            Fault("broken", "it is not finite", "What is added?", "e::t", math.inf),
            *declared,
        ),
    )
    return Dictionary(
        "e",
        (times, plus),
        (
            Step(("times",), lambda state, factor: {"n": state["n"] * factor}),
            Step(("plus",), lambda state, summand: {"output": state["n"] + summand}),
        ),
        lambda dtype: {"n": torch.tensor([[1.0, 5.0]], dtype=dtype)},
        probe,
        **options,
    )


def test_what_a_dictionary_says(tmp_path: Path) -> None:
    dictionary = small_dictionary(lambda submission: submission)
    table = Table.of(dictionary, tmp_path)
    assert [len(found) for found in table.look_up(np.array([3.0, 11.0]))] == [2]
    assert table.look_up(np.array([[1.0], [5.0]])) == [()]
    assert table.look_up(np.array([1.0, 6.0])) == []
    assert table.look_up(np.array([math.inf, math.inf])) == []
    assert measure(table).left_out == 2


def test_budget() -> None:
    rare = Fault("rare", "it is rare", "Why?", "e::t", 7.0, cost=4)
    rows = combinations(small_dictionary(lambda s: s, (rare,)))
    assert rows.tolist()[0] == [0, 0]
    assert [1, 3] not in rows.tolist()
    assert [0, 3] in rows.tolist()


def test_alternatives_have_equally_few_faults(tmp_path: Path) -> None:
    same = Fault("also_raised", "one is added elsewhere", "Where?", "e::t", 1.0)
    table = Table.of(small_dictionary(lambda s: s, (same,)), tmp_path)
    found = table.look_up(np.array([2.0, 6.0]))
    assert [[fault.id for fault in faults] for faults in found] == [["raised"], ["also_raised"]]


def test_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dictionary = small_dictionary(lambda s: s)
    first = Table.of(dictionary, tmp_path)
    place = tmp_path / f"e-{digest(dictionary)[:DIGITS]}"
    assert place.is_dir()
    outdated = tmp_path / f"e-{'0' * DIGITS}"
    place.rename(outdated)
    Table.of(dictionary, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [place.name]
    monkeypatch.setattr("autograder.fault_table.tabulate", pytest.fail)
    again = Table.of(dictionary, tmp_path)
    assert np.array_equal(again.entries[(2,)].answers, first.entries[(2,)].answers)


def test_damaged_or_unwritable_cache(tmp_path: Path) -> None:
    dictionary = small_dictionary(lambda s: s)
    place = tmp_path / f"e-{digest(dictionary)[:DIGITS]}" / "2"
    place.mkdir(parents=True)
    (place / "members.npy").write_bytes(b"not an array")
    assert Table.of(dictionary, tmp_path).look_up(np.array([1.0, 5.0])) == [()]
    assert Table.of(dictionary, tmp_path).look_up(np.array([1.0, 5.0])) == [()]
    (tmp_path / "file").write_text("")
    assert Table.of(dictionary, tmp_path / "file" / "deeper").look_up(np.array([9.0, 9.0])) == []


def test_worker_failures_pass_through() -> None:
    class Stopped(BaseException):
        pass

    def probe(submission: Any) -> Any:
        raise submission

    assert run_probe(small_dictionary(probe), ValueError()) is None
    with pytest.raises(Stopped):
        run_probe(small_dictionary(probe), Stopped())


def test_declarations_that_cannot_be_used(tmp_path: Path) -> None:
    assert load_dictionaries(tmp_path) == {}
    (tmp_path / "faults.py").write_text("DICTIONARIES = 3")
    with pytest.raises(KitError, match="DICTIONARIES"):
        load_dictionaries(tmp_path)
