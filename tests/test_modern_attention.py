"""Does the second assignment keep what it says? Its handout's numbers, its gallery, its probes.

tests/models compares it with models and code of others.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from decimal import Decimal
from importlib import util
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

from autograder import expectation, gallery, reference, template
from autograder.assignment import Assignment, load
from autograder.faults import load_dictionaries
from autograder.handout import compose
from autograder.judge import Judge
from autograder.sandbox import Station

EXERCISES = (
    "relative_offset",
    "apply_rope",
    "alibi_bias",
    "learned_positions",
    "grouped_query_attention",
    "attention_parameters",
)
HOSTILE = Path(__file__).parents[1] / "solutions" / "modern_attention" / "gallery" / "hostile"


@pytest.fixture(scope="module")
def assignment() -> Assignment:
    return load("modern_attention")


@pytest.fixture(scope="module")
def solution(assignment: Assignment) -> SimpleNamespace:
    """What a right submission defines."""
    modules = reference.load_reference(assignment)
    names = {name: modules[e.file] for e in assignment.exercises for name in e.names}
    return SimpleNamespace(**{name: getattr(module, name) for name, module in names.items()})


@pytest.fixture(scope="module")
def handout(assignment: Assignment) -> str:
    return compose(assignment)


@pytest.fixture(scope="module")
def oracles(assignment: Assignment) -> ModuleType:
    """The right answers that hidden tests compare with."""
    spec = util.spec_from_file_location("oracles", assignment.hidden_tests / "oracles.py")
    assert spec is not None and spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- the handout ------------------------------------------------------------------------------


def count_all(name: str, in_attention: int) -> int:
    """All parameters of a model of the handout's table, by the sizes that were published."""
    if name.startswith("Llama"):
        vocab, hidden = (32000, 11008) if "2" in name else (128256, 14336)
        layers, d = 32, 4096
        return in_attention + 2 * vocab * d + layers * (3 * d * hidden + 2 * d) + d
    layers, d, vocab, places = {
        "BERT-base": (12, 768, 30522, 512),
        "GPT-2 small": (12, 768, 50257, 1024),
        "GPT-3 175B": (96, 12288, 50257, 2048),
    }[name]
    feed_forward = 8 * d * d + 5 * d
    total = in_attention + (vocab + places) * d + layers * (feed_forward + 4 * d)
    # Segments, a norm after the embedding and a pooler; or a norm at the end.
    return total + (2 * d + 2 * d + d * d + d if name == "BERT-base" else 2 * d)


def test_the_table_of_models_is_what_the_reference_counts(
    handout: str, solution: SimpleNamespace
) -> None:
    rows = re.findall(r"^\| ((?:BERT|GPT|Llama)[^|]*) \|(.*)\|$", handout, re.MULTILINE)
    assert len(rows) == 5
    for name, cells in rows:
        *sizes, bias, attention, of_all, share = (
            c.strip().replace(",", "") for c in cells.split("|")
        )
        layers, d_model, heads, kv_heads = map(int, sizes)
        count = solution.attention_parameters(d_model, heads, kv_heads, layers, bias == "yes")
        total = count_all(name, count)
        assert (int(attention), int(of_all)) == (count, total), name
        assert share == f"{100 * count / total:.1f} %", name


def test_the_other_numbers_of_the_handout_are_right(
    handout: str, solution: SimpleNamespace
) -> None:
    """Those that no session of the handout prints; tests/test_handout.py runs the sessions."""
    for number in (
        1024 * 768,  # learned positions of GPT-2 small
        50257 * 768,  # its token embedding
        4 * 4096**2,  # attention in a layer of Llama-2-7B
        4 * 4096**2 + 3 * 4096 * 11008,  # and all of the layer, norms apart
        solution.attention_parameters(4096, 32, 32, 32, False),  # Llama-3-8B, without sharing
    ):
        assert f"{number:,}" in handout, number
    assert f"{4 * 4096**2 / (4 * 4096**2 + 3 * 4096 * 11008):.1%}" == "33.2%"
    slopes = -solution.alibi_bias(6, 2)[:, 1, 0]
    assert slopes.tolist() == [1 / 4, 1 / 16, 1 / 64, 1 / 256, 1 / 2, 1 / 8]


def test_the_handout_promises_every_test_with_its_points(
    assignment: Assignment, handout: str
) -> None:
    pattern = r'points="([\d.]+)",\s*title="([^"]+)"'
    paths = [*assignment.public_tests.glob("*.py"), *assignment.hidden_tests.glob("*.py")]
    found = [pair for path in paths for pair in re.findall(pattern, path.read_text("utf-8"))]
    assert len(found) == 75
    missing = [title for points, title in found if f"- {title} ({points})" not in handout]
    assert missing == []


def test_what_is_handed_out_is_up_to_date_and_has_hints(assignment: Assignment) -> None:
    assert template.stale_files(assignment) == []
    hints = tomllib.loads((assignment.public_dir / "hints.toml").read_text(encoding="utf-8"))
    assert {exercise: len(lines) for exercise, lines in hints.items()} == dict.fromkeys(
        EXERCISES, 3
    )


# --- the promises of the exercises ------------------------------------------------------------


def test_rope_scores_depend_on_the_distance_alone_and_half_split_is_another_turn(
    solution: SimpleNamespace,
) -> None:
    q, k = torch.randn(2, 1, 1, 1, 16, generator=torch.Generator().manual_seed(0)).unbind(0)

    def score(place: int, other: int) -> float:
        turned = (solution.apply_rope(x, torch.tensor([p])) for x, p in ((q, place), (k, other)))
        first, second = turned
        return float((first * second).sum())

    assert score(9, 4) == pytest.approx(score(1005, 1000), abs=1e-3)
    assert abs(score(9, 4) - score(9, 5)) > 0.1


@pytest.mark.parametrize("num_kv_heads", [6, 3, 2, 1])
def test_sharing_heads_is_multi_head_attention_with_repeated_weights(
    solution: SimpleNamespace, oracles: ModuleType, num_kv_heads: int
) -> None:
    torch.manual_seed(0)
    layer, x = solution.GroupedQueryAttention(24, 6, num_kv_heads), torch.randn(2, 5, 24)
    names = ("Wq", "Wk", "Wv", "Wo")
    weights = {n: (getattr(layer, n).weight.data, getattr(layer, n).bias.data) for n in names}
    for mask in (None, torch.ones(5, 5, dtype=torch.bool).tril()):
        wanted = oracles.shared_attention(x, 6, num_kv_heads, weights, mask)
        assert torch.allclose(layer(x, mask), wanted, atol=1e-5)
    assert sum(p.numel() for p in layer.parameters()) == solution.attention_parameters(
        24, 6, num_kv_heads, 1, True
    )


# --- the gallery ------------------------------------------------------------------------------


def read_cases(assignment: Assignment, kind: str) -> dict[str, expectation.Case]:
    folders = [path.parent for path in (assignment.gallery_dir / kind).glob("*/case.toml")]
    return {folder.name: expectation.read_case(folder) for folder in folders}


@pytest.mark.parametrize("exercise", EXERCISES)
def test_the_gallery_has_styles_and_mistakes_enough(assignment: Assignment, exercise: str) -> None:
    right = [c for c in read_cases(assignment, "right").values() if exercise in c.exercises]
    wrong = [c for c in read_cases(assignment, "wrong").values() if exercise in c.exercises]
    assert len(right) >= 4
    assert len(wrong) >= 12
    assert sum(bool(case.faults) for case in wrong) >= 8


def test_one_mistake_is_charged_by_its_test_and_by_the_whole_answer(assignment: Assignment) -> None:
    dictionaries = load_dictionaries(assignment.solution_dir)
    gross = {fault for dictionary in dictionaries.values() for fault in dictionary.gross}
    single = {
        name: case.verdicts
        for name, case in read_cases(assignment, "wrong").items()
        if len(case.faults) == 1 and case.faults[0] not in gross
    }
    assert len(single) > 80
    # A layer norm brings parameters of its own; they are counted.
    assert [name for name, charged in single.items() if len(charged) > 2] == ["pos-layer-norm"]


@pytest.mark.parametrize(
    "case",
    ["off-identity", "off-zeros", "rope-identity", "alibi-zeros", "pos-nothing", "gqa-identity"],
)
def test_hardly_anything_earns_hardly_anything(
    judge: Judge, sources: dict[str, dict[str, str]], case: str
) -> None:
    tests = judge.judge(sources[f"wrong-{case}"]).tests
    (exercise,) = {test.exercise for test in tests if test.verdict != "passed"}
    mine = [test for test in tests if test.exercise == exercise]
    assert sum(t.points for t in mine) <= sum(t.max_points for t in mine) * Decimal("0.35")


# --- attacks ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def judge(assignment: Assignment, warm_station: Station) -> Iterator[Judge]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in grading; these tensors are small
    made = Judge(assignment, warm_station)
    yield made
    made.close()
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def sources(assignment: Assignment) -> dict[str, dict[str, str]]:
    """The files of every case of the gallery."""
    return {
        submission.student: {name: data.decode() for name, data in submission.files.items()}
        for submission in gallery.find_gallery(assignment).submissions
    }


@pytest.mark.parametrize("case", sorted(path.parent.name for path in HOSTILE.glob("*/case.toml")))
def test_hostile_answers_earn_nothing_that_they_ask_for(
    judge: Judge, sources: dict[str, dict[str, str]], case: str
) -> None:
    declared = expectation.read_case(HOSTILE / case)
    judgement = judge.judge(sources[f"hostile-{case}"])
    verdicts = {test.id: test.verdict for test in judgement.tests}
    assert set(declared.effects["passed"]) <= set(verdicts)
    assert [test for test in declared.effects["passed"] if verdicts[test] == "passed"] == []
    assert "grader_error" not in verdicts.values()


def test_what_one_submission_spoils_no_other_one_meets(
    judge: Judge, sources: dict[str, dict[str, str]]
) -> None:
    judge.judge(sources["hostile-spoils_what_it_is_given"])
    named = judge.judge(sources["wrong-gqa-mask-inverted"]).diagnosis
    assert [diagnosis.faults for diagnosis in named] == [["mask_inverted"]]
    spoilt = {
        test.id: test.verdict for test in judge.judge(sources["wrong-gqa-mask-in-place"]).tests
    }
    assert spoilt["grouped_query_attention::test_inputs_unchanged"] == "failed"
    right = judge.judge(sources["right-gqa-einops"])
    assert {test.verdict for test in right.tests} == {"passed"}


@pytest.mark.parametrize("exercise", EXERCISES)
def test_probes_hand_out_copies(
    assignment: Assignment, solution: SimpleNamespace, exercise: str
) -> None:
    dictionary = load_dictionaries(assignment.solution_dir)[exercise]
    before = torch.as_tensor(dictionary.probe(solution)).clone()

    def spoil(*given: Any, **_: Any) -> Any:
        for tensor in given:
            if isinstance(tensor, torch.Tensor):
                tensor.zero_()
        return torch.zeros(1)

    class Spoiler(torch.nn.Module):
        def __init__(self, *_: int) -> None:
            super().__init__()
            self.table = torch.nn.Parameter(torch.zeros(9, 6))
            for name in ("Wq", "Wk", "Wv", "Wo"):
                setattr(self, name, torch.nn.Linear(24, 12 if name in ("Wk", "Wv") else 24))

        def forward(self, *given: torch.Tensor) -> Any:
            return spoil(*given)

    names: dict[str, Any] = dict.fromkeys(vars(solution), spoil)
    names |= {"LearnedPositions": Spoiler, "GroupedQueryAttention": Spoiler}
    dictionary.probe(SimpleNamespace(**names))
    assert torch.equal(torch.as_tensor(dictionary.probe(solution)), before)
