"""The roster: whatever table says who is in the class."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lms_archives import make_canvas_gradebook, make_class, make_moodle_worksheet

from autograder.errors import KitError
from autograder.names import fold_slug, fold_words, list_slugs
from autograder.roster import (
    Roster,
    Student,
    combine,
    make_roster,
    read_rosters,
    restore_roster,
)
from autograder.sheet import parse_sheet


def parse(text: str | bytes) -> Roster:
    data = text.encode() if isinstance(text, str) else text
    return make_roster(parse_sheet(data, "roster.csv"))


def test_our_own_columns_are_read_in_any_order_and_case(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_bytes(
        b"\xef\xbb\xbfEmail;Section;ID;Last name;First_Name;extension;Late days;extra\r\n"
        b"a@x.org;T1;ada;Lovelace;Ada;2026-12-02;3;?\r\n\r\n;;bob;;;;;\r\n"
    )
    roster = read_rosters([path])
    assert roster is not None
    ada, bob = roster.students
    assert ada == Student(
        "ada", name="Ada Lovelace", email="a@x.org", section="T1",
        extension="2026-12-02", late_days="3",
    )  # fmt: skip
    assert ada.free_days == 3
    assert bob == Student("bob")
    assert bob.free_days is None


def test_a_gradebook_a_worksheet_and_a_forges_list_are_rosters():
    people = make_class()
    canvas = parse(make_canvas_gradebook(people))
    assert len(canvas.students) == len(people)
    assert canvas.by_id["s000"] == Student(
        "s000", name="Lovelace, Ada", login="s000", section="Tuesday, 10:00",
        canvas_id="5000", sis_id="sis0",
    )  # fmt: skip
    moodle = parse(make_moodle_worksheet(people))
    assert moodle.by_id["s000@uni.example"].moodle_id == "900000"
    assert moodle.by_id["s000@uni.example"].submitted == "Monday, 30 November 2026, 11:58 PM"
    forge = parse(
        "username,first_name,last_name,email,section,github_id\nada99,Ada,Lovelace,,A,1\n"
    )
    assert forge.students == (Student("ada99", name="Ada Lovelace", login="ada99", section="A"),)
    names = parse("LastName,FirstName,ID,SIS Login ID,Section\nLovelace,Ada,7,ada,A\n")
    assert names.students[0].name == "Lovelace, Ada"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no roster"),
        ("name,email\nAda,a@x.org\n", "needs a column id"),
        ("idd,name\nada,Ada\n", "did you mean id"),
        ("id,name\n", "lists no students"),
        ("id,name\n,Ada\n", "line 2 has no id"),
        ("id\nada\nADA\n", "lines 2 and 3 have the same id"),
        ("id,late_days\nada,two\n", "late_days in line 2"),
        ('id\n"ada\n', "never closed"),
    ],
)
def test_a_wrong_roster_says_what_is_wrong(text, words):
    with pytest.raises(KitError, match=words):
        parse(text)


def test_a_roster_can_be_written_down_and_restored():
    roster = parse("id,name,group\nada,Ada Lovelace,T 1\nbob,,t1\n")
    assert restore_roster(roster.describe()) == roster
    assert restore_roster([{"id": "ada", "of a later version": "x"}, {}]).students == (
        Student("ada"),
    )
    assert [student.id for student in roster.find_group("T-1")] == ["ada", "bob"]


def test_a_second_roster_adds_to_the_first():
    gradebook = parse(make_canvas_gradebook(make_class()))
    own = parse(
        "id,canvas_id,extension,group,section\ns000,,2026-12-02,T1,\nx,5001,,T1,B\nnew,,,,\n"
    )
    both = combine(gradebook, own)
    assert len(both.students) == len(gradebook.students) + 1
    ada, zoe = both.by_id["s000"], both.by_id["s001"]
    assert (ada.extension, ada.group, ada.canvas_id) == ("2026-12-02", "T1", "5000")
    assert (zoe.group, zoe.section, zoe.name) == ("T1", "B", "Ångström, Zoë")
    assert both.by_id["new"] == Student("new")
    assert read_rosters([]) is None


def test_a_line_that_is_two_students_is_neither():
    first = parse("id,email\na,a@x.org\nb,b@x.org\n")
    both = combine(first, parse("id,email,extension\na,b@x.org,2\n"))
    assert both.students == first.students


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada Lovelace", "LOVELACE, Ada"),
        ("Zoë Ångström", "angstrom zoe"),
        ("Jean-Luc Picard", "Picard, Jean Luc"),
        ("Seán O'Brien", "O’Brien, Sean"),
        ("Straße Anna", "anna strasse"),
    ],
)
def test_names_are_the_same_in_any_order_and_spelling(one, other):
    assert fold_words(one) == fold_words(other)


def test_canvas_slugs_are_found_whatever_is_the_family_name():
    assert "lovelaceada" in set(list_slugs("Ada Lovelace"))
    assert set(list_slugs("van der Berg, Anna")) == {"vanderberganna"}
    assert "vanderberganna" in set(list_slugs("Anna van der Berg"))


@given(st.text(max_size=40))
def test_any_name_can_be_folded(name):
    assert fold_slug(name) == fold_slug(fold_slug(name)) or not name.isascii()
    assert list(list_slugs(name)) is not None
    assert fold_words(name) == tuple(sorted(fold_words(name)))


@given(st.binary(max_size=300))
def test_any_table_is_a_roster_or_refused(data):
    try:
        roster = parse(b"id,name\n" + data)
    except KitError:
        return
    assert all(student.id for student in roster.students)
