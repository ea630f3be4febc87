"""docs/lms.md: every command in it works, from the archive to the upload."""

import csv
import dataclasses
import json
import re
import shlex
import tomllib
from concurrent.futures import Future
from pathlib import Path

import pytest
from demo_kit import write_files
from lms_archives import (
    Person,
    make_canvas,
    make_canvas_gradebook,
    make_class,
    make_gradescope,
    make_moodle,
    make_moodle_worksheet,
    make_nbgrader,
    make_roster,
    pack,
    write_clones,
)

from autograder import cli
from autograder import pool as real_pool
from autograder.assignment import load
from autograder.intake import Intake, LeftOut, Submission
from autograder.lateness import Deadline
from autograder.results import Judgement, TestResult
from autograder.roster import Student

DOCS = Path(cli.__file__).resolve().parents[2] / "docs/lms.md"
TEXT = DOCS.read_text(encoding="utf-8")
SECTIONS = {
    title: re.findall(r"^```\n(.*?)^```$", body, re.MULTILINE | re.DOTALL)
    for title, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
}
WAYS = [title for title, blocks in SECTIONS.items() if blocks]


class FullMarks:
    """Judges that give everybody everything at once: what grading costs is tested elsewhere."""

    isolation = "full"
    jobs = 2

    def submit(self, files: dict[str, bytes], exercises: object = ()) -> Future[Judgement]:
        tests = [
            TestResult(
                id=f"{e.id}::test_it", exercise=e.id, title="It works", visibility="public",
                verdict="passed" if e.file in files else "missing", max_points=e.points,
                points=e.points if e.file in files else "0",
            )
            for e in load("attention").exercises
        ]  # fmt: skip
        future: Future[Judgement] = Future()
        future.set_result(Judgement(tests=tests, isolation="full"))
        return future

    def stop(self) -> None: ...

    def close(self) -> None: ...


def make_people() -> list[Person]:
    """A class that hands in the reference; the last three nothing, a part, and a PDF."""
    attention = load("attention")
    reference = {name: (attention.solution_dir / name).read_bytes() for name in attention.files}
    people = make_class()[:7]
    for person in people:
        person.files = dict(reference)
    people[5].files.pop("attention_block.py")
    people[6].files = {"report.pdf": b"%PDF"}
    return people


def write_downloads(folder: Path) -> None:
    people = make_people()
    title, points = "Attention (4711)", (b"10.00", b"100.00")
    zipped = {
        "dl101-attention submissions.zip": make_canvas(people),
        "DL-Attention-4711.zip": make_moodle(people),
        "assignment_77_export.zip": make_gradescope(people),
    }
    files = {f"downloads/{name}": pack(entries) for name, entries in zipped.items()}
    files["downloads/gradebook.csv"] = make_canvas_gradebook(people, title).replace(*points)
    files["downloads/worksheet.csv"] = make_moodle_worksheet(people).replace(*points)
    names = make_roster(people, "id", "name").replace(b"id,name", b"username,name")
    files["downloads/students.csv"] = names
    files["roster.csv"] = make_roster(people, "id", "name", "email", "section")
    for person in people:
        files |= {f"submissions/{person.login}/{name}": d for name, d in person.files.items()}
    trees = {f"course/submitted/{n}": d for n, d in make_nbgrader(people, "attention").items()}
    write_files(folder, files | trees)
    write_clones(folder / "clones", people)


@pytest.fixture
def say(tmp_path, monkeypatch, capsys):
    """Give a command line of the docs to the command that it names; return what it says."""
    write_downloads(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(real_pool, "start", lambda *arguments: FullMarks())

    def run(line: str) -> str:
        program, *arguments = shlex.split(line)
        assert program == "autograder"
        with pytest.raises(SystemExit) as stop:
            cli.main(arguments)
        printed = capsys.readouterr()
        assert not stop.value.code, (line, printed)
        return printed.out + printed.err

    return run


@pytest.mark.parametrize("way", WAYS)
def test_every_command_works(say, tmp_path, way):
    if way == "After a correction":  # follows on what is graded by hand
        say(SECTIONS["By hand"][0].splitlines()[0])
    said = [say(line) for block in SECTIONS[way] for line in block.splitlines()]
    assert said
    if way in ("Canvas", "Moodle"):
        assert "Dry run, nothing written" in said[1]
        assert said[1].splitlines()[:-1] == said[2].splitlines()[:-1]
        name = "gradebook" if way == "Canvas" else "worksheet"
        filled = (tmp_path / f"downloads/{name}-filled.csv").read_bytes()
        assert filled != (tmp_path / f"downloads/{name}.csv").read_bytes()
        assert filled.count(b"100.00") > 5
        assert "look at" in said[2]  # the PDF
        assert (tmp_path / "downloads/feedback.zip").stat().st_size > 1000
    if way == "After a correction":
        assert "0 marks changed" in said[-1]
    for table in tmp_path.glob("**/marks.csv"):
        with table.open(encoding="utf-8-sig", newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert sum(row["mark"] == "100.00" for row in rows) == 5
        assert {row["mark"] for row in rows} == {"100.00", "70.00", ""}


def test_the_commands_work_with_the_real_judges(tmp_path, monkeypatch, capsys):
    """Once without a stand-in: Canvas' archive of two students, to the filled gradebook."""
    people = make_people()[:2]
    people[1].files["multi_head_attention.py"] = b"x = 1\n"
    write_files(
        tmp_path,
        {
            "downloads/dl101-attention submissions.zip": pack(make_canvas(people)),
            "downloads/gradebook.csv": make_canvas_gradebook(people, "Attention (4711)").replace(
                b"10.00", b"100.00"
            ),
        },
    )
    monkeypatch.chdir(tmp_path)
    for line in SECTIONS["Canvas"][0].splitlines():
        with pytest.raises(SystemExit) as stop:
            cli.main(shlex.split(line)[1:])
        assert not stop.value.code, capsys.readouterr()
    with (tmp_path / "downloads/gradebook-filled.csv").open(newline="") as stream:
        rows = list(csv.reader(stream))
    assert (rows[3][6], rows[4][6]) == ("100.00", "55.00")


def test_who_is_called_otherwise_or_has_left_is_said(say, tmp_path):
    """A folder that is renamed is another student; the old one's results stay and count nowhere."""
    submissions = tmp_path / "submissions"
    say("autograder grade attention submissions/")
    (submissions / "s000").rename(submissions / "-new name?")
    (submissions / "s001").rename(submissions / "S002")
    said = say("autograder grade attention submissions/")
    assert "'-new name?' is new name" in said
    assert "Results of earlier runs, not of this class: s000, s001." in said
    assert (tmp_path / "grades/attention/s000/result.json").is_file()
    with (tmp_path / "grades/attention/grades.csv").open(newline="") as stream:
        students = [row["student"] for row in csv.DictReader(stream)]
    assert students[1:] == ["S002", "new name", "s002-2", "s003", "s004", "s005", "s006"]
    written = json.loads((tmp_path / "grades/attention/intake.json").read_text(encoding="utf-8"))
    notes = {s["student"]: " ".join(s["notes"]) for s in written["submissions"]}
    assert "more than one submission is called" in notes["S002"]
    assert "more than one submission is called" in notes["s002-2"]


def test_the_deadline_of_the_docs_can_be_declared():
    (block,) = re.findall(r"^```toml\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
    declared = tomllib.loads(block)["deadline"]
    assert set(declared) == set(Deadline.__struct_fields__)


def test_the_fields_of_intake_and_roster_are_documented(say, tmp_path):
    say("autograder grade attention submissions/ --roster roster.csv")
    written = json.loads((tmp_path / "grades/attention/intake.json").read_text(encoding="utf-8"))
    documented = set(re.findall(r"`([a-z_]+)`", TEXT))
    fields = {field.name for field in dataclasses.fields(Submission)}
    assert set(written["submissions"][0]) == fields
    assert fields <= documented
    assert {field.name for field in dataclasses.fields(LeftOut)} <= documented
    assert {field.name for field in dataclasses.fields(Intake)} <= documented
    assert {field.name for field in dataclasses.fields(Student)} <= documented
