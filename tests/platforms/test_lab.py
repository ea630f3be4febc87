"""A student's evening with the notebook, in JupyterLab in a browser, from the zip to the mark."""

import zipfile
from pathlib import Path

from platforms.conftest import read_scores
from platforms.handed_in import ATTENTION, GALLERY, read
from platforms.lab import TOKEN, browse, serve
from platforms.pages import succeed

from autograder.release.notebook import cell_source


def test_the_notebook_is_solved_run_and_graded_equal_to_the_files(kit, tmp_path):
    with zipfile.ZipFile(kit / "dist" / "attention" / "student.zip") as archive:
        archive.extractall(tmp_path / "home")
    path = tmp_path / "home" / "attention" / "attention.ipynb"
    work = GALLERY["wrong-two-scale-and-halves"]
    with serve(tmp_path / "home", tmp_path / "private") as address:
        type_and_run(address, path, {name: data.decode() for name, data in work.items()})
    check_outputs(path)
    (tmp_path / "class" / "files").mkdir(parents=True)
    for name, data in work.items():
        (tmp_path / "class" / "files" / name).write_bytes(data)
    path.rename(tmp_path / "class" / "notebook.ipynb")
    succeed("autograder grade attention class --out grades", tmp_path)
    scores = read_scores(tmp_path / "grades")
    assert scores["notebook"] == scores["files"]
    assert 50 < scores["files"] < 100


def type_and_run(address: str, path: Path, work: dict[str, str]) -> None:
    """Open the notebook, type the work over its stubs, run all cells, save."""
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    with browse() as page:
        page.goto(f"{address}/lab/tree/attention/attention.ipynb?token={TOKEN}")
        page.get_by_text("Kernel status: Idle").first.wait_for(state="attached")
        for exercise in ATTENTION.exercises:
            (place,) = [n for n, c in enumerate(cells) if c.id == f"exercise-{exercise.id}"]
            page.locator(".jp-CodeCell").nth(place).locator(".cm-content").click()
            page.keyboard.press("Control+A")
            page.keyboard.insert_text(cell_source(work[exercise.file], ATTENTION))
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_text("Run All Cells", exact=True).click()
        last = page.locator(".jp-CodeCell").last.locator(".jp-OutputArea-output")
        last.filter(has_text="attention alone: ").wait_for()
        with page.expect_response(lambda answer: answer.request.method == "PUT") as saved:
            page.keyboard.press("Control+S")
        assert saved.value.ok


def check_outputs(path: Path) -> None:
    """Every cell has run without an error; checks have spoken, pictures were drawn."""
    cells = {cell.id: cell for cell in read(path).cells if cell.cell_type == "code"}
    assert all(cell.execution_count for cell in cells.values())
    outputs = [output for cell in cells.values() for output in cell.outputs]
    assert not [output for output in outputs if output.output_type == "error"]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 3
    said = {name: str(cell.outputs) for name, cell in cells.items() if name.startswith("checks-")}
    assert set(said) == {f"checks-{exercise.id}" for exercise in ATTENTION.exercises}
    assert "All public tests hold." in said["checks-multi_head_attention"]
    assert "5 of 8 points" in said["checks-positional_encoding"]


def test_the_notebook_as_handed_out_says_what_comes_first(kit, tmp_path):
    with zipfile.ZipFile(kit / "dist" / "attention" / "student.zip") as archive:
        archive.extractall(tmp_path)
    said = succeed(
        "jupyter execute --allow-errors --inplace attention.ipynb", tmp_path / "attention"
    )
    assert "Traceback" not in said
    cells = {c.id: c for c in read(tmp_path / "attention" / "attention.ipynb").cells}
    for exercise in ATTENTION.exercises:
        assert "not yet written" in str(cells[f"checks-{exercise.id}"].outputs).lower()


def test_in_a_hosted_notebook_the_zip_beside_it_is_enough(kit, tmp_path):
    zipped = kit / "dist" / "attention" / "student.zip"
    (tmp_path / "student.zip").write_bytes(zipped.read_bytes())
    notebook = kit / "dist" / "attention" / "attention.ipynb"
    (tmp_path / "mine.ipynb").write_bytes(notebook.read_bytes())
    succeed("jupyter execute --allow-errors --inplace mine.ipynb", tmp_path)
    cells = {cell.id: cell for cell in read(tmp_path / "mine.ipynb").cells}
    assert "not yet written" in str(cells["checks-positional_encoding"].outputs).lower()
