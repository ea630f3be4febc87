"""The assignment `modern_attention`, held against models and code of others.

Models are built from their published configurations on torch's meta device: shapes without
memory, and no network. `.venv/bin/pip install -r tests/models/requirements.lock` first; without
it these tests are skipped.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from autograder.assignment import Assignment, load
from autograder.reference import load_reference

transformers = pytest.importorskip("transformers", reason="see tests/models/requirements.lock")
from transformers.models.gptj import modeling_gptj  # noqa: E402
from transformers.models.llama import modeling_llama  # noqa: E402
from transformers.models.mpt import modeling_mpt  # noqa: E402

# Name: kind of model, its configuration, and the same as arguments of attention_parameters.
BERT = {
    "vocab_size": 30522,
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "max_position_embeddings": 512,
    "type_vocab_size": 2,
}
GPT_2 = {"vocab_size": 50257, "n_positions": 1024, "n_embd": 768, "n_layer": 12, "n_head": 12}
GPT_3 = {"vocab_size": 50257, "n_positions": 2048, "n_embd": 12288, "n_layer": 96, "n_head": 96}
LLAMA_2 = {
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "tie_word_embeddings": False,
}
LLAMA_3 = LLAMA_2 | {"vocab_size": 128256, "intermediate_size": 14336, "num_key_value_heads": 8}
MODELS = {
    "BERT-base": ("Bert", "BertModel", BERT, (768, 12, 12, 12, True)),
    "GPT-2 small": ("GPT2", "GPT2Model", GPT_2, (768, 12, 12, 12, True)),
    "GPT-3 175B": ("GPT2", "GPT2Model", GPT_3, (12288, 96, 96, 96, True)),
    "Llama-2-7B": ("Llama", "LlamaForCausalLM", LLAMA_2, (4096, 32, 32, 32, False)),
    "Llama-3-8B": ("Llama", "LlamaForCausalLM", LLAMA_3, (4096, 32, 8, 32, False)),
}
IN_ATTENTION = re.compile(r"\.(attention\.(self|output\.dense)|attn|self_attn)\.")


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    return load("modern_attention")


@pytest.fixture(scope="module")
def solution(assignment: Assignment) -> SimpleNamespace:
    modules = load_reference(assignment)
    names = {name: modules[e.file] for e in assignment.exercises for name in e.names}
    return SimpleNamespace(**{name: getattr(module, name) for name, module in names.items()})


@pytest.mark.parametrize("name", MODELS)
def test_the_count_is_that_of_the_model_itself(
    name: str, assignment: Assignment, solution: SimpleNamespace
) -> None:
    family, kind, configuration, sizes = MODELS[name]
    with torch.device("meta"):
        model = getattr(transformers, kind)(
            getattr(transformers, f"{family}Config")(**configuration)
        )
    sized = {key: parameter.numel() for key, parameter in model.named_parameters()}
    counted = sum(size for key, size in sized.items() if IN_ATTENTION.search(key))
    assert solution.attention_parameters(*sizes) == counted
    handout = (assignment.public_dir / "handout.md").read_text(encoding="utf-8")
    (row,) = re.findall(rf"^\| {name} \|.*$", handout, re.MULTILINE)
    assert f"| {counted:,} | {sum(sized.values()):,} |" in row


@pytest.mark.parametrize("num_heads", [1, 2, 3, 5, 6, 8, 12, 16, 20, 40])
def test_alibi_is_that_of_another_library(solution: SimpleNamespace, num_heads: int) -> None:
    # One row of it, relative to the last token, stands for all queries.
    length = 9
    theirs = modeling_mpt.build_mpt_alibi_tensor(num_heads, length)[:, 0]
    # It puts the heads that fill up first in every octave; the paper's code puts them last.
    slopes = sorted((theirs[:, -1] - theirs[:, -2]).tolist())
    ours = solution.alibi_bias(num_heads, length)
    assert sorted((-ours[:, 1, 0]).tolist()) == pytest.approx(slopes, rel=1e-6)
    assert torch.allclose(ours[:, -1].sort(0).values, theirs.sort(0).values, rtol=1e-6)


def test_alibi_for_powers_of_two_has_their_heads_in_the_same_order(
    solution: SimpleNamespace,
) -> None:
    for num_heads in (2, 8, 32):
        theirs = modeling_mpt.build_mpt_alibi_tensor(num_heads, 7)[:, 0]
        assert torch.allclose(solution.alibi_bias(num_heads, 7)[:, -1], theirs, rtol=1e-6)


def turn_as_gpt_j(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """Their code has length before heads."""
    table = modeling_gptj.create_sinusoidal_positions(int(positions.max()) + 1, x.shape[-1])
    sin, cos = table[positions][None].chunk(2, dim=-1)
    return modeling_gptj.apply_rotary_pos_emb(x.transpose(1, 2), sin, cos).transpose(1, 2)


def turn_as_llama(x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    d_k = x.shape[-1]
    configuration = transformers.LlamaConfig(hidden_size=d_k, num_attention_heads=1)
    embedding: Any = modeling_llama.LlamaRotaryEmbedding(configuration)
    cos, sin = embedding(x, positions[None])
    return modeling_llama.apply_rotary_pos_emb(x, x, cos, sin)[0]


def test_rope_is_that_of_gpt_j_and_that_of_llama_with_other_pairs(
    solution: SimpleNamespace,
) -> None:
    x = torch.randn(2, 3, 5, 16, generator=torch.Generator().manual_seed(0))
    positions = torch.tensor([0, 7, 3, 40, 41])
    ours = solution.apply_rope(x, positions)
    assert torch.allclose(ours, turn_as_gpt_j(x, positions), atol=1e-5)
    assert not torch.allclose(ours, turn_as_llama(x, positions), atol=0.1)
    # Half-split pairs are the same turn of the same pairs, in another order of features.
    halves = torch.arange(16).reshape(8, 2).T.flatten()  # 0, 2, 4, ..., 1, 3, 5, ...
    assert torch.allclose(ours[..., halves], turn_as_llama(x[..., halves], positions), atol=1e-5)


def test_a_matrix_of_relative_offset_moves_the_encoding_of_another_library(
    solution: SimpleNamespace,
) -> None:
    # Theirs has all sines first, as the handout's layout has not.
    table = modeling_gptj.create_sinusoidal_positions(50, 16)
    rows = torch.stack(table.chunk(2, dim=-1), dim=-1).flatten(1)  # (50, 16)
    for k in (1, 7):
        assert torch.allclose(rows[:-k] @ solution.relative_offset(k, 16).T, rows[k:], atol=1e-5)
