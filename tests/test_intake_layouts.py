"""A class as every LMS exports it: everybody is found, nobody mixed up, exceptions explained."""

import os
import subprocess
import unicodedata
import zipfile
import zlib
from datetime import datetime
from pathlib import Path

import pytest
from demo_kit import make_kit, write_files
from lms_archives import (
    ABSENT,
    LATE,
    STARTER,
    TRAPS,
    Files,
    list_present,
    make_canvas,
    make_canvas_gradebook,
    make_class,
    make_gradescope,
    make_loose,
    make_moodle,
    make_moodle_worksheet,
    make_nbgrader,
    make_roster,
    pack,
    write_clones,
)

from autograder.assignment import Assignment
from autograder.errors import NothingToGrade
from autograder.intake import Intake, Submission, find_submissions
from autograder.intake.commits import read_commit_time
from autograder.roster import Roster
from autograder.roster import make_roster as parse_roster
from autograder.sheet import parse_sheet

PEOPLE = make_class()
SITES = ["canvas", "canvas unpacked", "canvas by section", "moodle", "moodle of old", "moodle flat",
         "gradescope", "nbgrader", "nbgrader course", "git", "loose", "loose zip"]  # fmt: skip


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    kit = make_kit(tmp_path_factory.mktemp("kit"))
    write_files(kit.template_dir, {"layer.py": STARTER})
    return kit


def as_on_macos(entries: Files) -> Files:
    """File names with accents taken apart, as macOS unpacks them."""
    return {unicodedata.normalize("NFD", name): data for name, data in entries.items()}


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The class in every layout, as a path to grade."""
    home = tmp_path_factory.mktemp("sites")

    def zipped(name: str, entries: Files) -> Path:
        path = home / f"{name}.zip"
        path.write_bytes(pack(entries))
        return path

    clones = home / "clones"
    write_clones(clones, PEOPLE)
    halves = {f"{half} submissions.zip": pack(make_canvas(PEOPLE[half::2])) for half in (0, 1)}
    return {
        "canvas": zipped("dl101-demo submissions", make_canvas(PEOPLE)),
        "canvas unpacked": write_files(home / "unpacked", as_on_macos(make_canvas(PEOPLE))),
        "canvas by section": write_files(home / "sections", halves),
        "moodle": zipped("DL-Demo-4711", make_moodle(PEOPLE)),
        "moodle of old": write_files(home / "old", as_on_macos(make_moodle(PEOPLE, end="_"))),
        "moodle flat": zipped("DL-Demo-flat", make_moodle(PEOPLE, flat=True)),
        "gradescope": zipped("assignment_77_export", make_gradescope(PEOPLE)),
        "nbgrader": write_files(home / "submitted", make_nbgrader(PEOPLE)),
        "nbgrader course": write_files(
            home / "course",
            {f"submitted/{name}": data for name, data in make_nbgrader(PEOPLE, "Demo").items()}
            | {"source/demo/demo.ipynb": b"{}", "nbgrader_config.py": b""},
        ),
        "git": clones,
        "loose": write_files(home / "loose", make_loose(PEOPLE)),
        "loose zip": zipped("loose", {f"all/{n}": d for n, d in make_loose(PEOPLE).items()}),
    }


CLASSES: dict[str, tuple[str, Files]] = {
    "canvas": ("canvas", make_canvas(PEOPLE)),
    "moodle": ("moodle", make_moodle(PEOPLE)),
    "gradescope": ("gradescope", make_gradescope(PEOPLE)),
    "loose": ("plain", make_loose(PEOPLE)),
    "folders": ("plain", {f"{who}/layer.py": b"class Layer: pass" for who in ("ada", "bob")}),
    "wrapped": ("plain", {f"all/{who}/layer.py": b"class Layer: pass" for who in ("ada", "17")}),
    "zips": ("plain", {f"{who}.zip": pack({"layer.py": b"x = 1"}) for who in ("ada", "bob")}),
    "files": ("plain", {f"{who}.py": b"class Layer: pass" for who in ("ada", "bob", "cleo")}),
}


@pytest.mark.parametrize("beside", [{}, {".DS_Store": b"", "gradebook.csv": b"id\n"}])
@pytest.mark.parametrize("kind", CLASSES)
def test_the_archive_in_a_folder_of_downloads_is_the_class(demo, tmp_path, kind, beside):
    layout, entries = CLASSES[kind]
    folder = write_files(tmp_path / "downloads", {"all.zip": pack(entries), **beside})
    intake = find_submissions(folder, demo)
    given = find_submissions(folder / "all.zip", demo)
    assert intake.submissions == given.submissions
    assert (intake.layout, intake.opened, given.opened) == (layout, ["all.zip"], [])
    more = [item.path for item in intake.left_out if item not in given.left_out]
    assert more == [name for name in beside if name.endswith(".csv")]


ONE = {
    "as asked": {"layer.py": b"class Layer: pass", "block.py": b"class Block: pass"},
    "wrapped": {"hw/layer.py": b"class Layer: pass", "hw/block.py": b"class Block: pass"},
    "split": {"1/layer.py": b"class Layer: pass", "2/block.py": b"class Block: pass"},
    "drafts": {"draft/layer.py": b"class Layer: n = 1", "final/layer.py": b"class Layer: n = 2"},
    "the handout beside it": {"handed-out/layer.py": STARTER, "mine/layer.py": b"x = 1"},
    "a file and a zip": {"block.py": b"class Block: pass", "l.zip": pack({"layer.py": b"x = 1"})},
    "two tries": {"mine.py": b"class Layer: n = 1", "other.py": b"class Layer: n = 2"},
    "nothing": {"report.pdf": b""},
}


@pytest.mark.parametrize("kind", ONE)
def test_an_archive_of_one_student_stays_one_students(demo, tmp_path, kind):
    folder = write_files(tmp_path / "class", {"ada.zip": pack(ONE[kind])})
    intake = find_submissions(folder, demo)
    assert ([s.student for s in intake.submissions], intake.opened) == (["ada"], [])


def test_an_archive_beside_somebodys_work_is_a_students(demo, tmp_path):
    several = pack(CLASSES["folders"][1])
    for number, other in enumerate(("bob/layer.py", "bob.py", "bob.zip", "report.pdf")):
        folder = write_files(tmp_path / str(number), {"a.zip": several, other: b"x = 1"})
        intake = find_submissions(folder, demo)
        assert len(intake.submissions) == 2, other
        assert "a" in [s.student for s in intake.submissions]


@pytest.fixture(scope="module")
def roster() -> Roster:
    columns = ("id", "name", "email", "section", "canvas_id", "moodle_id", "sis_id")
    return parse_roster(parse_sheet(make_roster(PEOPLE, *columns), "roster.csv"))


def check(intake: Intake, find: dict[str, Submission]) -> None:
    """Hold what was found of everybody against what they handed in."""
    for person in list_present(PEOPLE):
        submission = find[person.login]
        said = " ".join([*submission.notes, submission.ungradable])
        assert set(submission.files) == person.finds, (person.trap, said)
        assert bool(submission.ungradable) == (not person.finds), person.trap
        assert person.says in said, (person.trap, said)
        for data in submission.files.values():
            others = [other for other in PEOPLE if other is not person and other.tag in data]
            assert not others, (person.trap, others)
            assert person.tag in data or data == STARTER, person.trap
    assert len(intake.submissions) == len(list_present(PEOPLE))


def test_the_class_is_large_and_has_every_trap():
    assert len(PEOPLE) >= 42
    assert {person.trap for person in list_present(PEOPLE)} == {trap[0] for trap in TRAPS}


@pytest.mark.parametrize("site", SITES)
def test_everybody_is_found_with_a_roster(demo, sites, roster, site):
    intake = find_submissions(sites[site], demo, roster)
    found = {submission.student: submission for submission in intake.submissions}
    check(intake, found)
    assert intake.absent == [PEOPLE[number].login for number in ABSENT]
    assert {submission.certainty for submission in intake.submissions} == {"sure"}
    assert not any(submission.remarks for submission in intake.submissions)
    assert intake.layout == site.split()[0].replace("loose", "plain")


@pytest.mark.parametrize("site", SITES)
def test_everybody_is_found_without_one(demo, sites, site):
    intake = find_submissions(sites[site], demo)
    find: dict[str, Submission] = {}
    for person in list_present(PEOPLE):
        keys = {person.login, f"0{person.number:03}"}
        ends = (f"-{person.canvas_id}", f"-{person.moodle_id}")
        (found,) = [s for s in intake.submissions if s.student in keys or s.student.endswith(ends)]
        find[person.login] = found
    check(intake, find)


def test_times_come_from_where_the_lms_puts_them(demo, sites, roster):
    for site in ("gradescope", "nbgrader", "git"):
        for submission in find_submissions(sites[site], demo, roster).submissions:
            is_late = int(submission.student[1:]) in LATE
            assert submission.submitted.startswith("2026-12-02" if is_late else "2026-11-30"), site
            assert submission.submitted.endswith(("+00:00", "+01:00"))
    for submission in find_submissions(sites["canvas"], demo, roster).submissions:
        assert submission.is_marked_late == (int(submission.student[1:]) in LATE)
        assert submission.submitted == ""


def test_a_worksheet_is_a_roster_with_times(demo, sites):
    worksheet = parse_roster(parse_sheet(make_moodle_worksheet(PEOPLE), "worksheet.csv"))
    intake = find_submissions(sites["moodle"], demo, worksheet)
    found = {s.student.partition("@")[0]: s for s in intake.submissions}
    check(intake, found)
    assert found["s003"].submitted == "2026-12-02T09:05:00"
    assert found["s004"].submitted == "2026-11-30T23:58:00"
    assert len(intake.absent) == len(ABSENT)


def test_a_gradebook_is_a_roster(demo, sites):
    gradebook = parse_roster(parse_sheet(make_canvas_gradebook(PEOPLE), "gradebook.csv"))
    intake = find_submissions(sites["canvas"], demo, gradebook)
    check(intake, {s.student: s for s in intake.submissions})
    assert intake.absent == [PEOPLE[number].login for number in ABSENT]


def test_names_alone_match_where_they_are_nobody_elses(demo, sites):
    """Two are called Chen Wei, two nearly Björn Borg: no guess is made about any of them."""
    names = parse_roster(parse_sheet(make_roster(PEOPLE, "id", "name"), "roster.csv"))
    for site in ("canvas", "moodle"):
        intake = find_submissions(sites[site], demo, names)
        by_tag = {}
        for submission in intake.submissions:
            for person in PEOPLE:
                if any(person.tag in data for data in submission.files.values()):
                    by_tag[person.login] = submission
        for login, submission in by_tag.items():
            assert submission.members in ([login], []), (site, login)
        twins = [p.login for p in PEOPLE if p.name in ("Chen Wei", "Björn Borg", "Bjorn Borg")]
        assert set(twins) <= set(intake.absent)
        for login in twins:
            if login in by_tag:
                assert by_tag[login].certainty == "unknown"
                assert "more than one on the roster" in " ".join(by_tag[login].remarks)
        matched = [s for s in intake.submissions if s.members]
        assert {s.certainty for s in matched} == {"likely"}
        assert len(matched) >= 34


def test_anonymous_canvas_files_are_told_apart(demo, tmp_path):
    intake = find_submissions(
        write_files(tmp_path / "x", make_canvas(PEOPLE, anonymous=True)), demo
    )
    find = {p.login: s for p in PEOPLE for s in intake.submissions
            if s.student == f"anon-x{p.canvas_id}Z"}  # fmt: skip
    check(intake, find)
    assert sum(s.is_marked_late for s in intake.submissions) == len(LATE)


def test_blind_moodle_is_called_as_in_the_worksheet(demo, tmp_path):
    names = {"Participant_12_assignsubmission_file/layer.py": PEOPLE[0].files["layer.py"],
             "Participant_13_assignsubmission_file/layer.py": b"x = 1"}  # fmt: skip
    intake = find_submissions(write_files(tmp_path / "x", names), demo)
    assert [s.student for s in intake.submissions] == ["Participant 12", "Participant 13"]


def test_texts_and_links_in_place_of_files_are_said(demo, tmp_path):
    entries = {
        "lovelaceada_12_text.html": b"<p>my text</p>",
        "turingalan_LATE_13_link.html": b"<a href=x>",
        "hoppergrace_14_700_layer.py": b"class Layer: pass",
    }
    ada, alan, grace = sorted(
        find_submissions(write_files(tmp_path / "x", entries), demo).submissions,
        key=lambda s: s.canvas_id,
    )
    assert "found text.html" in ada.ungradable
    assert "found link.html" in alan.ungradable
    assert alan.is_marked_late
    assert list(grace.files) == ["layer.py"]


def test_the_newest_attempt_counts_and_the_others_are_listed(demo, tmp_path):
    first = {"a_1_100_layer.py": b"class Layer: n = 1", "b_2_101_layer.py": b"class Layer: n = 9"}
    second = {
        "a_1_200_layer-1.py": b"class Layer: n = 2",
        "b_2_101_layer.py": b"class Layer: n = 9",
    }
    class_ = {"monday submissions.zip": pack(second), "sunday submissions.zip": pack(first)}
    a, b = find_submissions(write_files(tmp_path / "x", class_), demo).submissions
    assert a.files["layer.py"] == b"class Layer: n = 2"
    assert [attempt.origin for attempt in a.attempts] == ["a_1_100_layer.py"]
    assert b.files["layer.py"] == b"class Layer: n = 9"
    both = {"a_1_100_layer.py": b"class Layer: n = 1", "a_1_200_layer-1.py": b"class Layer: n = 2"}
    (a,) = find_submissions(write_files(tmp_path / "y", both), demo).submissions
    assert a.files["layer.py"] == b"class Layer: n = 2"


def test_a_group_is_one_submission_of_several_students(demo, tmp_path):
    text = "id,name,email,canvas_id,group\nada,Ada L,ada@x.org,1,Team 7\n"
    text += "bob,Bob M,bob@x.org,2,Team 7\n"
    text += "cleo,Cleo N,cleo@x.org,3,\n"
    listed = parse_roster(parse_sheet(text.encode(), "roster.csv"))
    metadata = (
        b"submission_5:\n  :submitters:\n  - :name: Ada L\n    :email: ada@x.org\n"
        b"  - :name: Bob M\n    :email: bob@x.org\n  :created_at: 2026-11-30 10:00:00 Z\n"
        b"submission_6:\n  :submitters: []\n"
    )
    layouts = {
        "canvas": {"team7_1_900_layer.py": b"class Layer: pass", "ncleo_3_901_layer.py": b"x = 1"},
        "moodle": {"Team 7_44_assignsubmission_file/layer.py": b"class Layer: pass"},
        "gradescope": {"submission_metadata.yml": metadata, "submission_5/layer.py": b"x = 1"},
        "by hand": {"ada/layer.py": b"class Layer: pass", "cleo/layer.py": b"x = 1"},
        "by hand, named": {"Team 7/layer.py": b"class Layer: pass", "cleo/layer.py": b"x = 1"},
    }
    for name, entries in layouts.items():
        intake = find_submissions(write_files(tmp_path / name, entries), demo, listed)
        group = next(s for s in intake.submissions if "ada" in s.members)
        assert group.members == ["ada", "bob"], name
        assert "bob" not in intake.absent
        assert not {"ada", "bob"} & {
            m for s in intake.submissions if s is not group for m in s.members
        }


def test_nobody_hands_in_for_somebody_else(demo, tmp_path, roster):
    """Names are the students' own: they may imitate what an LMS puts before them."""
    ada, bob = PEOPLE[0], PEOPLE[3]
    entries = make_canvas([ada, bob])
    forged = f"eve_{bob.canvas_id}_666_99999_layer.py"  # of a user who calls herself eve_5003
    folder = write_files(tmp_path / "canvas", {**entries, forged: b"class Layer: forged = 1"})
    intake = find_submissions(folder, demo, roster)
    found = {s.student: s for s in intake.submissions}
    assert bob.tag in found[bob.login].files["layer.py"]
    (apart,) = [s for s in intake.submissions if not s.members]
    assert any("two ways" in remark for remark in apart.remarks)
    export = pack(make_canvas([bob, ada]))
    folder = write_files(tmp_path / "plain", {"eve.zip": export, "s003.zip": pack(bob.files)})
    intake = find_submissions(folder, demo, roster)
    assert sorted(s.student for s in intake.submissions) == ["eve", "s003"]
    assert bob.tag in {s.student: s for s in intake.submissions}["s003"].files["layer.py"]


def test_a_groups_number_is_no_participants(demo, tmp_path):
    """Moodle's groups have numbers too: 44 may be a group here and a participant there."""
    listed = parse_roster(parse_sheet(b"id,name,moodle_id\nada,Ada L,44\n", "r.csv"))
    entries = {"Team 7_44_assignsubmission_file/layer.py": b"class Layer: pass"}
    intake = find_submissions(write_files(tmp_path / "x", entries), demo, listed)
    assert intake.submissions[0].members == []
    assert "if it is a group" in intake.submissions[0].remarks[0]
    assert intake.absent == ["ada"]


def test_files_that_only_look_like_canvas_are_nobodys_but_their_own(demo, tmp_path):
    names = ["week_3_1_ada.py", "week_3_1_bob.py", "week_3_1_cleo.py", "week_3_1_dan.py"]
    entries = dict.fromkeys(names, b"class Layer: pass")
    intake = find_submissions(write_files(tmp_path / "x", entries), demo)
    assert [s.student for s in intake.submissions] == [name[:-3] for name in names]
    entries = {
        "al_7_800_layer.py": b"class Layer: n = 1",
        "al_7_800_layer (1).py": b"class Layer: n = 1",
    }
    intake = find_submissions(write_files(tmp_path / "y", entries), demo)
    assert [s.student for s in intake.submissions] == ["al-7"]


def test_a_name_like_junk_is_not_dropped_without_a_word(demo, tmp_path):
    entries = {
        ".x_7_assignsubmission_file/layer.py": b"class Layer: pass",
        "~$ y_8_assignsubmission_file/layer.py": b"class Layer: pass",
        "._.x_7_assignsubmission_file": b"of macOS",
        ".ada/layer.py": b"class Layer: pass",
        "venv/layer.py": b"class Layer: pass",
        "__MACOSX/layer.py": b"",
    }
    intake = find_submissions(write_files(tmp_path / "x", entries), demo)
    assert len(intake.submissions) == 2
    assert [item.path for item in intake.left_out] == [".ada", "venv"]


def test_who_has_no_folder_for_the_assignment_has_handed_in_nothing(demo, tmp_path):
    listed = parse_roster(parse_sheet(b"id\nada\nbob\n", "r.csv"))
    entries = {
        "ada/demo/timestamp.txt": b"2026-11-30 10:00:00 UTC",
        "ada/demo/layer.py": b"class Layer: n = 1",
        "bob/hw2/timestamp.txt": b"2026-11-30 10:00:00 UTC", "bob/hw2/other.py": b"x = 1",
        "bob/hw1/timestamp.txt": b"2026-11-30 10:00:00 UTC", "bob/hw1/other.py": b"x = 1",
    }  # fmt: skip
    intake = find_submissions(write_files(tmp_path / "x", entries), demo, listed)
    assert [s.student for s in intake.submissions] == ["ada"]
    assert intake.absent == ["bob"]
    assert [(item.path, item.reason) for item in intake.left_out] == [
        ("bob", "nothing for demo: found hw1 and hw2")
    ]


def test_the_rosters_id_goes_to_the_rosters_student(demo, tmp_path):
    listed = parse_roster(parse_sheet(b"id,name,canvas_id\nada,Ada L,7\n", "r.csv"))
    entries = {
        "lada_7_800_layer.py": b"class Layer: hers = 1",
        "Ada/layer.py": b"class Layer: hers = 0",
        "x_8_801_layer.py": b"class Layer: n = 1",
        "y_9_802_layer.py": b"class Layer: n = 2",
    }
    intake = find_submissions(write_files(tmp_path / "x", entries), demo, listed)
    found = {s.student: s for s in intake.submissions}
    assert found["ada"].members == ["ada"]
    assert found["ada"].files["layer.py"] == b"class Layer: hers = 1"
    assert found["Ada-2"].members == []


def test_work_of_a_group_counts_before_a_members_own(demo, tmp_path):
    listed = parse_roster(parse_sheet(b"id,group\nada,Team 7\nbob,Team 7\n", "r.csv"))
    entries = {"ada/layer.py": b"class Layer: n = 1", "team-7/layer.py": b"class Layer: n = 2"}
    intake = find_submissions(write_files(tmp_path / "x", entries), demo, listed)
    found = {s.student: s for s in intake.submissions}
    assert found["Team 7"].members == ["ada", "bob"]
    assert found["ada"].members == []
    assert "stands apart" in found["ada"].remarks[0]
    assert intake.absent == []


def test_who_is_not_on_the_roster_is_graded_and_said(demo, tmp_path):
    listed = parse_roster(parse_sheet(b"id,name\nada,Ada L\n", "r.csv"))
    entries = {"ada/layer.py": b"class Layer: n = 1", "guest/layer.py": b"class Layer: n = 2"}
    ada, guest = find_submissions(write_files(tmp_path / "x", entries), demo, listed).submissions
    assert (ada.certainty, ada.matched, ada.remarks) == ("sure", "id", [])
    assert (guest.certainty, guest.members) == ("unknown", [])
    assert guest.remarks == ["not on the roster"]
    assert guest.files


def test_mixed_downloads_lie_beside_each_other(demo, tmp_path):
    entries = {
        "lovelaceada_1_700_layer.py": b"class Layer: n = 1",
        "turingalan_2_701_layer.py": b"class Layer: n = 2",
        "hoppergrace_3_702_layer.py": b"class Layer: n = 3",
        "Leslie Lamport_44_assignsubmission_file/layer.py": b"class Layer: n = 4",
        "by-email/layer.py": b"class Layer: n = 5",
        "late-again.zip": pack({"layer.py": b"class Layer: n = 6"}),
    }
    intake = find_submissions(write_files(tmp_path / "x", entries), demo)
    assert intake.layout == "canvas + moodle + plain"
    assert {s.student: s.files["layer.py"][-1:] for s in intake.submissions} == {
        "lovelaceada-1": b"1", "turingalan-2": b"2", "hoppergrace-3": b"3",
        "Leslie Lamport-44": b"4", "by-email": b"5", "late-again": b"6",
    }  # fmt: skip


def test_two_ids_of_different_students_are_no_match(demo, tmp_path):
    listed = parse_roster(parse_sheet(b"id,email,sis_id\na,a@x.org,11\nb,b@x.org,22\n", "r.csv"))
    metadata = b"submission_1:\n  :submitters:\n  - :sid: 11\n    :email: b@x.org\n"
    entries = {"submission_metadata.yml": metadata, "submission_1/layer.py": b"class Layer: x = 1"}
    (submission,) = find_submissions(write_files(tmp_path / "x", entries), demo, listed).submissions
    assert submission.certainty == "unknown"
    assert "different students" in submission.remarks[0]


def test_the_same_work_twice_is_remarked_on_for_staff_alone(demo, tmp_path):
    work = b"class Layer:\n    pass  # mine\n"
    folder = write_files(
        tmp_path / "x",
        {
            "ada/layer.py": work,
            "bob/layer.py": work,
            "cleo/layer.py": STARTER,
            "dan/layer.py": STARTER,
        },
    )
    ada, bob, cleo, dan = find_submissions(folder, demo).submissions
    assert ada.remarks == ["the same files, byte for byte, as bob"]
    assert bob.remarks == ["the same files, byte for byte, as ada"]
    assert cleo.remarks == dan.remarks == []
    assert not any("byte for byte" in note for s in (ada, bob) for note in s.notes)


@pytest.mark.parametrize(
    "metadata",
    [b"", b"- 1\n", b"a: [", b"\xff\xfe\0\0", b"[" * 5000, b"a: &a [*a]\n", b"{a: {b: c}}",
     b"submission_1: !ruby/object:Kernel {x: 1}\n", b"? [1]\n: 2\n", b"a: 1\nb: [1, {c: 2}]\n",
     b"submission_1:\n  :submitters: {x: 1}\n  :created_at: 99\n  :history: 3\n"],
)  # fmt: skip
def test_any_metadata_is_read_or_refused(demo, tmp_path, metadata):
    entries = {"submission_metadata.yml": metadata, "submission_1/layer.py": b"class Layer: x = 1"}
    folder = write_files(tmp_path / "x", entries)
    try:
        intake = find_submissions(folder, demo)
    except NothingToGrade:
        with pytest.raises(NothingToGrade, match=r"submission_metadata\.yml"):
            find_submissions(folder, demo)
    else:
        assert "submission_1" in [s.student for s in intake.submissions]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs links and pipes")
def test_a_hostile_repository_is_only_read(demo, tmp_path):
    """Clones whose settings run programs, whose files are damaged, lead elsewhere or hang."""
    write_clones(tmp_path / "c", PEOPLE[:10])
    forged = tmp_path / "forged"
    gits = [home / ".git" for home in sorted((tmp_path / "c").iterdir())]
    config = f"[core]\n\tfsmonitor = touch {forged}\n[include]\n\tpath = /dev/zero\n"
    with (gits[0] / "config").open("a") as stream:
        stream.write(config)
    (gits[1] / "HEAD").write_bytes(b"ref: refs/heads/../../../../../etc/passwd\n")
    for path in (gits[2] / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o600)
            path.write_bytes(b"\xff" * 40)
    (gits[3] / "commondir").write_bytes(b"../../hw-3-s000/.git\n")
    (gits[4] / "objects/info").mkdir(exist_ok=True)
    (gits[4] / "objects/info/alternates").write_bytes(b"/dev/zero\n")
    (gits[5] / "HEAD").unlink()
    os.mkfifo(gits[5] / "HEAD")
    (gits[6] / "HEAD").unlink()
    (gits[6] / "HEAD").symlink_to("/dev/zero")
    bomb = zlib.compress(b"commit 9\0" + bytes(1 << 28))
    sha = "0" * 40
    write_files(gits[7], {"HEAD": sha, f"objects/{sha[:2]}/{sha[2:]}": bomb})
    submissions = find_submissions(tmp_path / "c", demo).submissions
    assert [bool(s.submitted) for s in submissions] == [True, *[False] * 7, True, True]
    assert "has no commit whose time can be read" in submissions[1].remarks
    assert not forged.exists()


@pytest.mark.parametrize("zone", ["+0530", "-0930", "+0000"])
def test_a_commits_time_has_its_own_offset(tmp_path, zone):
    home = tmp_path / "clone"
    home.mkdir()
    when = f"2026-11-30T23:58:00{zone}"
    settings = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "PATH": os.environ["PATH"]}
    who = ["-c", "user.name=Zo > 9 +0100", "-c", "user.email=x@example.org"]
    for command in (["init", "-q"], [*who, "commit", "-q", "--allow-empty", "-m", "committer x"]):
        subprocess.run(["git", *command], cwd=home, check=True, env=settings)
    assert read_commit_time(home) == datetime.fromisoformat(when)


def test_what_is_written_down_survives(demo, sites, roster):
    described = find_submissions(sites["canvas"], demo, roster).describe()
    assert set(described) == {
        "schema_version",
        "layout",
        "submissions",
        "absent",
        "left_out",
        "opened",
        "roster",
    }
    first = described["submissions"][0]
    assert first["feedback_name"] == "lovelaceada_5000_70002"
    assert first["members"] == ["s000"]
    assert first["matched"] == "Canvas id"
    with zipfile.ZipFile(sites["canvas"]) as archive:
        assert any(name.startswith(first["feedback_name"]) for name in archive.namelist())
