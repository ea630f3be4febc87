"""What goes out: the same bytes every time, and nothing of the staff's."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from demo_kit import make_kit

from autograder import template
from autograder.assignment import Assignment, load
from autograder.errors import KitError
from autograder.release import leaks, student
from autograder.release.zipping import write_zip


@pytest.fixture(scope="module")
def attention() -> Assignment:
    return load("attention")


@pytest.fixture(scope="module")
def built(attention: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Path:
    (path,) = student.build(attention, tmp_path_factory.mktemp("dist"))
    return path


def test_the_same_sources_make_the_same_bytes(
    attention: Assignment, built: Path, tmp_path: Path
) -> None:
    (again,) = student.build(attention, tmp_path)
    assert again.read_bytes() == built.read_bytes()


def test_the_zip_is_one_folder_with_the_template_in_it(attention: Assignment, built: Path) -> None:
    with zipfile.ZipFile(built) as archive:
        packed = {name: archive.read(name).decode() for name in archive.namelist()}
        assert archive.testzip() is None
    wanted = template.build_template(attention)
    assert packed == {f"attention/{name}": text for name, text in wanted.items()}
    for name in ("check.py", "handout.html", "attention.ipynb", "checker/hints.toml"):
        assert name in wanted


def test_a_zip_does_not_depend_on_the_order_of_its_files(tmp_path: Path) -> None:
    first = write_zip(tmp_path / "a" / "x.zip", {"b.py": b"1", "a/ü.py": b"2"})
    second = write_zip(tmp_path / "y.zip", {"a/ü.py": b"2", "b.py": b"1"})
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert archive.namelist() == ["a/ü.py", "b.py"]
        assert {entry.external_attr >> 16 for entry in archive.infolist()} == {0o644}


# --- leaks --------------------------------------------------------------------------------------


LINE = "scores = queries @ keys.transpose(-2, -1) / math.sqrt(self.d_k)"


@pytest.mark.parametrize(
    ("name", "wrap"),
    [
        ("notes.md", "Try {line} first.\n"),
        ("a/b.html", "<pre>{line}&amp;</pre>"),
        ("x.ipynb", ""),
    ],
)
def test_a_line_of_the_solution_is_found(attention: Assignment, name: str, wrap: str) -> None:
    text = wrap.format(line=LINE)
    if not wrap:
        text = json.dumps({"cells": [{"source": ["x = 1\n", f"    {LINE}\n"], "outputs": []}]})
    with pytest.raises(KitError, match=f"{name} holds a line of the solution of multi_head_att"):
        leaks.refuse_leaks(attention, {name: text.encode()})


def test_a_page_is_read_as_people_read_it() -> None:
    assert leaks.read_text("a.html", b"<pre>x &lt; &quot;y&quot;</pre>") == '<pre>x < "y"</pre>'


def test_hidden_tests_and_whole_files_of_the_staff_are_found(attention: Assignment) -> None:
    hidden = attention.hidden_tests / "test_positional_encoding.py"
    picture = attention.solution_dir / "figures.py"
    found = list(
        leaks.find_leaks(
            attention,
            {
                "names.md": b"look at test_distinct_rows",
                "lines.py": hidden.read_bytes()[-300:],
                "copy.bin": picture.read_bytes(),
            },
        )
    )
    assert "names.md names the hidden test test_distinct_rows" in found
    assert any(line.startswith("lines.py holds a line of the hidden") for line in found)
    assert "copy.bin is solutions/attention/figures.py" in found


def test_nothing_is_written_when_something_would_leak(tmp_path: Path) -> None:
    kit = make_kit(tmp_path)
    solution = "# BEGIN SOLUTION\nreturn_value = 3 * what_it_was_given\n# END SOLUTION\n"
    for exercise in kit.exercises:
        (kit.solution_dir / exercise.file).write_text(solution, encoding="utf-8")
    handout = kit.public_dir / "handout.md"
    handout.write_text("# Demo\n\nreturn_value = 3 * what_it_was_given\n", encoding="utf-8")
    with pytest.raises(KitError, match="handout.md holds a line of the solution of"):
        student.build(kit, tmp_path / "dist")
    assert not (tmp_path / "dist").exists()
    handout.write_text("# Demo\n", encoding="utf-8")
    (path,) = student.build(kit, tmp_path / "dist")
    assert path.is_file()
