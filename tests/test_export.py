"""Exports: an LMS gets back its own table with one column filled, and nothing is a silent zero."""

import csv
import io
import zipfile
from decimal import Decimal
from pathlib import Path

import pytest
from demo_kit import BLOCK, DECLARATION, LAYER, make_kit, write_files
from hypothesis import given, settings
from hypothesis import strategies as st
from lms_archives import (
    ABSENT,
    LATE,
    list_present,
    make_canvas,
    make_canvas_gradebook,
    make_class,
    make_moodle,
    make_moodle_worksheet,
    make_roster,
    pack,
)
from test_grading import FakePool
from test_results import make_result

from autograder import assignment
from autograder.assignment import Assignment
from autograder.errors import KitError
from autograder.export.canvas import fill_gradebook
from autograder.export.filling import Policy
from autograder.export.marks import Mark, Record, read_marks, round_mark
from autograder.export.moodle import fill_worksheet, render_comment
from autograder.export.returns import collect_feedback
from autograder.export.table import render_table
from autograder.grading import grade_class
from autograder.roster import Student
from autograder.roster import make_roster as parse_roster
from autograder.sheet import Sheet, parse_sheet

PEOPLE = make_class()
PENALTY = """
[deadline]
due = 2026-11-30T23:59:00
time_zone = "Europe/Berlin"
percent_per_day = 10
max_percent = 50
"""
CANVAS, WORKSHEET = make_canvas_gradebook(PEOPLE), make_moodle_worksheet(PEOPLE)


def to_sheet(data: bytes) -> Sheet:
    return parse_sheet(data, "table.csv")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    kit = tmp_path_factory.mktemp("kit")
    make_kit(kit)
    path = kit / "assignments/demo/assignment.toml"
    path.write_text(DECLARATION.replace("[[exercises]]", PENALTY + "\n[[exercises]]", 1))
    return assignment.load("demo", kit)


@pytest.fixture(scope="module")
def graded(demo: Assignment, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The class, graded from Canvas' archive and from Moodle's; without a judge's real cost."""
    home = tmp_path_factory.mktemp("graded")
    sites = {"canvas": (make_canvas(PEOPLE), CANVAS), "moodle": (make_moodle(PEOPLE), WORKSHEET)}
    for name, (entries, table) in sites.items():
        (home / f"{name}.zip").write_bytes(pack(entries))
        grade_class(
            demo,
            home / f"{name}.zip",
            home / name,
            roster=parse_roster(to_sheet(table)),
            start=FakePool(),
        )
    return {name: home / name for name in sites}


def diff_cells(before: bytes, after: bytes) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the cells that differ, and hold that there are as many and the rest is the same."""
    old, new = to_sheet(before), to_sheet(after)
    assert [len(row) for row in old.rows] == [len(row) for row in new.rows]
    assert (old.mark, old.encoding, old.delimiter) == (new.mark, new.encoding, new.delimiter)
    return {
        (r, c): (cell, new.rows[r][c])
        for r, row in enumerate(old.rows)
        for c, cell in enumerate(row)
        if cell != new.rows[r][c]
    }


# --- Canvas -------------------------------------------------------------------------------------


def test_a_gradebook_comes_back_with_one_column_filled(demo, graded):
    marks = read_marks(graded["canvas"], demo)
    filling = fill_gradebook(to_sheet(CANVAS), marks, demo)
    changed = diff_cells(CANVAS, filling.sheet.render())
    assert {column for _, column in changed} == {6}
    gradable = [person for person in list_present(PEOPLE) if person.finds]
    assert len(changed) == len(filling.changes) == len(gradable)
    rows = {row[1]: row for row in to_sheet(filling.sheet.render()).rows}
    for person in PEOPLE:
        wanted = {"layer.py": Decimal("7.5"), "block.py": Decimal("2.5")}
        score = sum(wanted[name] for name in person.finds)
        is_blank = person.number in ABSENT or not person.finds
        assert rows[str(person.canvas_id)][6] == ("" if is_blank else f"{score:.2f}"), person.trap
    assert rows["9999"][6] == ""


def test_the_ungradable_are_said_and_never_zero(demo, graded):
    marks = read_marks(graded["canvas"], demo)
    filling = fill_gradebook(to_sheet(CANVAS), marks, demo, policy=Policy(is_missing_zero=True))
    rows = {row[1]: row for row in to_sheet(filling.sheet.render()).rows}
    for person in PEOPLE:
        cell = rows[str(person.canvas_id)][6]
        if person.number in ABSENT:
            assert cell == "0.00"
        elif not person.finds:
            assert cell == ""
            assert any(p.startswith(f"{person.login}: ungradable") for p in filling.problems)


def test_filling_twice_changes_nothing_more(demo, graded):
    marks = read_marks(graded["canvas"], demo)
    once = fill_gradebook(to_sheet(CANVAS), marks, demo).sheet.render()
    again = fill_gradebook(to_sheet(once), marks, demo)
    assert again.sheet.render() == once
    assert again.changes == []
    assert again.unchanged > 30


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b",", b";"),
        (b"\n", b"\r\n"),
        (b"Student,ID", b"\xef\xbb\xbfStudent,ID"),
        (b"\n,,,,,,Manual Posting,,\n", b"\n"),
    ],
)
def test_a_gradebook_keeps_its_dialect(demo, graded, old, new):
    table = CANVAS.replace(b'"Tuesday, 10:00"', b"Tuesday")
    if old == b",":
        stream = io.StringIO()
        csv.writer(stream, delimiter=";", lineterminator="\n").writerows(to_sheet(table).rows)
        table = stream.getvalue().replace(".00", ",00").replace(".50", ",50").encode()
    else:
        table = table.replace(old, new)
    filling = fill_gradebook(to_sheet(table), read_marks(graded["canvas"], demo), demo)
    changed = diff_cells(table, filling.sheet.render())
    assert {column for _, column in changed} == {6}
    values = {value for _, value in changed.values()}
    assert ("10,00" if old == b"," else "10.00") in values


def test_excused_and_unassigned_cells_stay(demo, graded):
    lines = CANVAS.decode().split("\n")
    for number, word in ((3, "EX"), (4, "N/A")):
        lines[number] = lines[number].replace(",4.50,,", f",4.50,{word},")
    table = "\n".join(lines).encode()
    filling = fill_gradebook(to_sheet(table), read_marks(graded["canvas"], demo), demo)
    rows = to_sheet(filling.sheet.render()).rows
    assert (rows[3][6], rows[4][6]) == ("EX", "N/A")
    assert any("excused" in problem for problem in filling.problems)
    assert any("not assigned" in problem for problem in filling.problems)


@pytest.mark.parametrize(
    ("title", "column", "words"),
    [
        ("Final project (4711)", "Final project", "does not import"),
        ("My finals (4711)", "4711", "does not import"),
        ("Another (4711)", "", "no column"),
        ("A demonstration (4711)", "Current Score", "does not import"),
        ("A demonstration (4711)", "A demonstratio", "did you mean"),
    ],
)
def test_a_column_that_canvas_would_drop_is_refused(demo, graded, title, column, words):
    table = make_canvas_gradebook(PEOPLE, title)
    with pytest.raises(KitError, match=words):
        fill_gradebook(to_sheet(table), read_marks(graded["canvas"], demo), demo, column)


@pytest.mark.parametrize("column", ["4711", "A demonstration", "a demonstration (4711)"])
def test_a_column_is_found_by_title_or_number(demo, graded, column):
    marks = read_marks(graded["canvas"], demo)
    assert fill_gradebook(to_sheet(CANVAS), marks, demo, column).changes


def test_another_maximum_is_refused_or_scaled(demo, graded):
    table = CANVAS.replace(b"5.00,10.00", b"5.00,3.00")
    marks = read_marks(graded["canvas"], demo)
    with pytest.raises(KitError, match="--scale"):
        fill_gradebook(to_sheet(table), marks, demo)
    filling = fill_gradebook(to_sheet(table), marks, demo, policy=Policy(is_scaled=True))
    assert {change.new for change in filling.changes} == {"3.00", "2.25"}


@pytest.mark.parametrize("table", [b"", b"a,b\n1,2\n", b"Student,ID\nx,1\n", WORKSHEET])
def test_what_is_no_gradebook_is_refused(demo, graded, table):
    with pytest.raises(KitError, match="not a gradebook"):
        fill_gradebook(to_sheet(table), read_marks(graded["canvas"], demo), demo)


def test_ids_that_contradict_each_other_are_not_filled_in(demo, graded):
    """The rows of two students have changed places, but only in the column of logins."""
    table = CANVAS.replace(b"s000", b"X").replace(b"s001", b"s000").replace(b"X", b"s001")
    filling = fill_gradebook(to_sheet(table), read_marks(graded["canvas"], demo), demo)
    rows = to_sheet(filling.sheet.render()).rows
    assert (rows[3][6], rows[4][6]) == ("", "")
    assert sum("its ids are those of" in problem for problem in filling.problems) == 2


def test_without_a_roster_the_users_number_is_enough(demo, tmp_path):
    (tmp_path / "c.zip").write_bytes(pack(make_canvas(PEOPLE)))
    grade_class(demo, tmp_path / "c.zip", tmp_path / "out", start=FakePool())
    filling = fill_gradebook(to_sheet(CANVAS), read_marks(tmp_path / "out", demo), demo)
    changed = diff_cells(CANVAS, filling.sheet.render())
    assert len(changed) == len([person for person in list_present(PEOPLE) if person.finds])
    swapped = CANVAS.replace(b'"Lovelace, Ada"', b'"Team 7"')
    filling = fill_gradebook(to_sheet(swapped), read_marks(tmp_path / "out", demo), demo)
    assert to_sheet(filling.sheet.render()).rows[3][6] == ""
    assert any("a roster with a column group" in problem for problem in filling.problems)


@given(
    st.lists(st.text(min_size=1, max_size=20).filter(str.strip), min_size=1, max_size=5),
    st.sampled_from(",;\t"),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_whatever_the_names_only_the_column_changes(demo, names, delimiter, end, quoted):
    stream = io.StringIO()
    quoting = csv.QUOTE_ALL if quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(
        ["Student", "ID", "SIS Login ID", "Section", "A demonstration (1)", "Final Score"]
    )
    writer.writerow(["    Points Possible", "", "", "", "10.00", "(read only)"])
    for number, name in enumerate(names):
        writer.writerow([name.replace("\r", ""), number, f"u{number}", "=1+1", "", "3"])
    table = stream.getvalue().encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    result = make_result(student="x", assignment="demo")
    marks = [Mark(Student(f"u{n}"), Record(f"u{n}"), result) for n in range(len(names))]
    filling = fill_gradebook(to_sheet(table), marks, demo, policy=Policy(is_scaled=True))
    changed = diff_cells(table, filling.sheet.render())
    assert {column for _, column in changed} == {4}
    assert len(changed) == len(names)
    assert {new for _, new in changed.values()} == {"2.50"}


# --- Moodle -------------------------------------------------------------------------------------


def test_a_worksheet_comes_back_with_grades_and_feedback(demo, graded):
    marks = read_marks(graded["moodle"], demo)
    filling = fill_worksheet(to_sheet(WORKSHEET), marks, demo)
    changed = diff_cells(WORKSHEET, filling.sheet.render())
    assert {column for _, column in changed} == {4, 9}
    rows = {row[0]: row for row in to_sheet(filling.sheet.render()).rows}
    for person in PEOPLE:
        row = rows[f"Participant {person.moodle_id}"]
        if person.number in ABSENT:
            assert row[4] == row[9] == ""
        elif not person.finds:
            assert row[4] == ""
            assert row[9].startswith("<p>")
        else:
            days = 2 if person.number in LATE else 0
            score = Decimal(10 if len(person.finds) == 2 else 7.5)
            assert Decimal(row[4]) == score - days, person.trap
            assert row[9].startswith("<p>")
            assert ("2 days late" in row[9]) == bool(days)


def test_feedback_can_be_left_alone(demo, graded):
    marks = read_marks(graded["moodle"], demo)
    filling = fill_worksheet(to_sheet(WORKSHEET), marks, demo, feedback_column="-")
    assert {column for _, column in diff_cells(WORKSHEET, filling.sheet.render())} == {4}


def test_a_worksheet_in_another_language_needs_the_titles(demo, graded):
    header, _, rest = WORKSHEET.decode("utf-8-sig").partition("\r\n")
    german = "ID,Name,E-Mail,Status,Bewertung,Bestwertung,Offen,Abgabe,Bewertet,Kommentare"
    assert header.count(",") == german.count(",")
    table = f"{german}\r\n{rest.replace('10.00', '10,00')}".encode()
    table = to_sheet(table.replace(b"10,00", b'"10,00"'))
    marks = read_marks(graded["moodle"], demo)
    with pytest.raises(KitError, match="--column"):
        fill_worksheet(table, marks, demo)
    with pytest.raises(KitError, match="no column 'Noten'"):
        fill_worksheet(table, marks, demo, "Noten")
    before = table.render()
    filling = fill_worksheet(table, marks, demo, "Bewertung", "Kommentare")
    changed = diff_cells(before, filling.sheet.render())
    assert {column for _, column in changed} == {4, 9}
    assert "7,50" in {new for _, new in changed.values()}


def test_a_grade_that_is_locked_stays(demo, graded):
    table = WORKSHEET.replace(b",Yes,", b",No,", 1)
    filling = fill_worksheet(to_sheet(table), read_marks(graded["moodle"], demo), demo)
    assert to_sheet(filling.sheet.render()).rows[1][4] == ""
    assert to_sheet(filling.sheet.render()).rows[1][9] == ""
    assert any("cannot be changed" in problem for problem in filling.problems)


def test_a_comment_holds_nothing_of_staffs_and_no_markup_of_students(demo, graded):
    for mark in read_marks(graded["moodle"], demo):
        if mark.result is None:
            continue
        comment = render_comment(mark, demo)
        assert "expected 4" not in comment
        assert not comment.startswith(("=", "+", "-", "@"))
        assert {part.split(">")[0] for part in comment.split("<")[1:]} <= {
            "p", "/p", "ul", "/ul", "li", "/li",
        }  # fmt: skip


# --- the plain table, the files to hand back ----------------------------------------------------


def read_table(demo: Assignment, marks: list[Mark]) -> dict[str, dict[str, str]]:
    rows = csv.DictReader(io.StringIO(render_table(demo, marks)))
    return {row["student"]: row for row in rows}


def test_the_table_shows_the_penalty_beside_the_score(demo, graded):
    rows = read_table(demo, read_marks(graded["moodle"], demo))
    assert len(rows) == len(PEOPLE)
    late = rows["s003@uni.example"]
    shown = {key: late[key] for key in ("score", "days_late", "penalty_percent", "penalty", "mark")}
    assert shown == {
        "score": "10", "days_late": "2", "penalty_percent": "20", "penalty": "2", "mark": "8.00",
    }  # fmt: skip
    assert late["submitted"] == "2026-12-02T09:05:00"
    assert late["due"] == "2026-11-30T23:59:00+01:00"
    absent = rows[PEOPLE[ABSENT[0]].email]
    assert (absent["status"], absent["score"], absent["mark"]) == ("absent", "", "")


def test_a_deadline_that_moves_changes_marks_and_no_result(demo, graded):
    before = (graded["moodle"] / "s003@uni.example/result.json").read_bytes()
    path = demo.public_dir / "assignment.toml"
    text = path.read_text()
    try:
        path.write_text(text.replace("2026-11-30T", "2026-12-01T"))
        moved = assignment.load("demo", demo.root)
    finally:
        path.write_text(text)
    rows = read_table(moved, read_marks(graded["moodle"], moved))
    assert (rows["s003@uni.example"]["penalty"], rows["s003@uni.example"]["mark"]) == ("1", "9.00")
    assert (graded["moodle"] / "s003@uni.example/result.json").read_bytes() == before


def test_an_extension_given_after_grading_counts(demo, graded):
    listed = parse_roster(to_sheet(b"id,extension\ns003@uni.example,2026-12-03\n"))
    rows = read_table(demo, read_marks(graded["moodle"], demo, listed))
    assert rows["s003@uni.example"]["days_late"] == "0"
    assert rows["s003@uni.example"]["mark"] == "10.00"


def test_a_group_has_one_result_and_each_their_own_penalty(demo, tmp_path):
    roster = b"id,group,extension,submitted\nada,g,2,2026-12-02 09:00\nbob,g,,2026-12-02 09:00\n"
    write_files(tmp_path / "class", {"ada/layer.py": LAYER, "ada/block.py": BLOCK})
    listed = parse_roster(to_sheet(roster))
    grade_class(demo, tmp_path / "class", tmp_path / "out", roster=listed, start=FakePool())
    rows = read_table(demo, read_marks(tmp_path / "out", demo))
    assert {name: row["mark"] for name, row in rows.items()} == {"ada": "10.00", "bob": "8.00"}
    assert sorted(p.parent.name for p in tmp_path.glob("out/*/result.json")) == ["ada"]


def test_feedback_for_a_group_of_moodles_goes_to_each_member(demo, tmp_path):
    listed = parse_roster(
        to_sheet(b"id,name,moodle_id,group\nada,Ada_L,7,Team 1\nbob,Bob M,8,Team 1\n")
    )
    entries = {"Team 1_44_assignsubmission_file/layer.py": LAYER}
    write_files(tmp_path / "class", entries)
    grade_class(demo, tmp_path / "class", tmp_path / "out", roster=listed, start=FakePool())
    files, without = collect_feedback(
        tmp_path / "out", read_marks(tmp_path / "out", demo), "moodle"
    )
    assert sorted(files) == [
        "Ada L_7_assignsubmission_file/feedback.html",
        "Bob M_8_assignsubmission_file/feedback.html",
    ]
    assert without == []


def test_formulas_are_defused(demo, tmp_path):
    roster = b'id,name,email\nada,"=HYPERLINK(""http://x"")",@SUM(1)\n'
    write_files(tmp_path / "class", {"ada/layer.py": LAYER})
    listed = parse_roster(to_sheet(roster))
    grade_class(demo, tmp_path / "class", tmp_path / "out", roster=listed, start=FakePool())
    text = render_table(demo, read_marks(tmp_path / "out", demo))
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert not any(cell.startswith(("=", "+", "-", "@", "\t")) for cell in cells)
    assert any("HYPERLINK" in cell for cell in cells)


def test_feedback_is_named_as_the_lms_wants_it(demo, graded):
    canvas, missing = collect_feedback(
        graded["canvas"], read_marks(graded["canvas"], demo), "canvas"
    )
    assert missing == []
    assert len(canvas) == len(list_present(PEOPLE))
    for name, data in canvas.items():
        # Canvas reads the first two parts that are numbers as the user and the attachment.
        user, attachment, *_ = [part for part in name.split("_") if part.isdigit()]
        person = next(p for p in PEOPLE if str(p.canvas_id) == user)
        assert int(attachment) > 70_000
        assert person.login.encode() in data or person.login in str(data)
        assert name.rsplit("_", 1)[-1] == "feedback.md"
    moodle, _ = collect_feedback(graded["moodle"], read_marks(graded["moodle"], demo), "moodle")
    for name in moodle:
        # Moodle reads name, participant, and the two parts of a plugin that it knows.
        _, number, kind, plugin, *_ = (*name.split("/")[0].split("_"), "")
        assert number.isdigit() and (kind, plugin) == ("assignsubmission", "file")
        assert name.endswith("/feedback.html")
    folders, _ = collect_feedback(graded["moodle"], read_marks(graded["moodle"], demo), "folders")
    assert "s003@uni.example/feedback.html" in folders
    wrong, missing = collect_feedback(
        graded["canvas"], read_marks(graded["canvas"], demo), "moodle"
    )
    assert wrong == {}
    assert len(missing) == len(list_present(PEOPLE))


# --- marks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "maximum", "scale", "rounded"),
    [
        ("82.5", "100", "100", "82.50"),
        ("0.005", "1", "1", "0.01"),  # halves go upward, not to the even
        ("0.015", "1", "1", "0.02"),
        ("0.00499999999999999999999999999999999", "1", "1", "0.00"),
        ("1", "3", "10", "3.33"),
        ("2", "3", "10", "6.67"),
        ("10", "10", "3", "3.00"),
        ("0", "7", "3", "0.00"),
    ],
)
def test_marks_are_exact_and_rounded_once(value, maximum, scale, rounded):
    mark = round_mark(Decimal(value), Decimal(maximum), Decimal(scale))
    assert str(mark) == rounded


@given(
    st.decimals(0, 1000, places=4), st.decimals(1, 1000, places=2), st.decimals(1, 1000, places=2)
)
def test_rounding_is_off_by_half_a_hundredth_at_most(value, maximum, scale):
    mark = round_mark(value, maximum, scale)
    assert abs(mark - value * scale / maximum) <= Decimal("0.005") + Decimal("1e-20")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("intake.json", None, "holds no graded class"),
        ("intake.json", b"{", "damaged"),
        ("intake.json", b'{"assignment": "other", "submissions": []}', "not of 'demo'"),
        ("ada/result.json", b"{}", "Grade ada again"),
    ],
)
def test_a_folder_without_marks_says_so(demo, tmp_path, name, content, words):
    write_files(tmp_path / "class", {"ada/layer.py": LAYER})
    out = tmp_path / "out"
    grade_class(demo, tmp_path / "class", out, start=FakePool())
    if content is None:
        (out / name).unlink()
    else:
        (out / name).write_bytes(content)
    with pytest.raises(KitError, match=words):
        read_marks(out, demo)


def test_who_is_not_graded_yet_is_pending(demo, tmp_path):
    write_files(tmp_path / "class", {"ada/layer.py": LAYER})
    grade_class(demo, tmp_path / "class", tmp_path / "out", start=FakePool())
    (tmp_path / "out/ada/result.json").unlink()
    (mark,) = read_marks(tmp_path / "out", demo)
    assert (mark.status, mark.final) == ("pending", None)


def test_a_roster_of_names_alone_fills_a_gradebook_where_that_is_clear(demo, tmp_path):
    (tmp_path / "c.zip").write_bytes(pack(make_canvas(PEOPLE)))
    names = parse_roster(to_sheet(make_roster(PEOPLE, "id", "name")))
    grade_class(demo, tmp_path / "c.zip", tmp_path / "out", roster=names, start=FakePool())
    filling = fill_gradebook(to_sheet(CANVAS), read_marks(tmp_path / "out", demo), demo)
    assert len(filling.changes) == len([p for p in list_present(PEOPLE) if p.finds])
    with zipfile.ZipFile(tmp_path / "c.zip") as archive:
        assert archive.testzip() is None
