"""The declaration: strict, and every complaint says what to do."""

from decimal import Decimal
from pathlib import Path

import pytest

from autograder import assignment
from autograder.errors import BrokenAssignment, KitError, UnknownAssignment

DECLARATION = """
id = "demo"
title = "A demonstration"
points = "10"

[limits]
test_wall_seconds = 2

[[exercises]]
id = "layer"
title = "A layer"
file = "layer.py"
names = ["Layer", "double"]
student_writes = ["Layer.forward", "double"]
points = "7.5"
public_points = "2.5"

[[exercises]]
id = "block"
title = "A block"
file = "block.py"
names = ["Block"]
student_writes = ["Block"]
points = "2.5"
public_points = "0"
uses = ["layer"]
"""

FILES = [
    "assignments/demo/handout.md",
    "assignments/demo/tests/test_layer.py",
    "solutions/demo/layer.py",
    "solutions/demo/block.py",
    "solutions/demo/tests/test_layer.py",
    "solutions/demo/tests/test_block.py",
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    declare(tmp_path, DECLARATION)
    return tmp_path


def declare(root: Path, text: str) -> None:
    (root / "assignments/demo/assignment.toml").write_text(text, encoding="utf-8")


def test_a_right_declaration_is_read(root):
    demo = assignment.load("demo", root)
    assert demo.points == Decimal(10)
    assert list(demo.files) == ["layer.py", "block.py"]
    assert demo.exercise("block").uses == ("layer",)
    assert demo.limits.test_wall_seconds == 2
    assert demo.hidden_tests == root / "solutions/demo/tests"


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('title = "A layer"', 'titel = "A layer"', "unknown key 'titel'; did you mean title"),
        ("test_wall_seconds", "test_wall_second", "did you mean test_wall_seconds"),
        ("[limits]", "[limit]", "did you mean limits"),
        ('points = "10"\n', 'points = "11"\n', "add up to 10"),
        ('points = "10"\n', "points = 10.5\n", "add up to 10"),
        ('points = "10"\n', 'points = "ten"\n', "points"),
        ('points = "10"\n', 'points = "nan"\n', "points"),
        ('points = "10"\n', 'points = "-1"\n', "not negative"),
        ('public_points = "2.5"', 'public_points = "8"', "more public_points than points"),
        ('public_points = "2.5"\n', "", "lacks the key `public_points`"),
        ('id = "demo"', 'id = "dome"', "make them the same"),
        ('id = "block"', 'id = "../block"', "small letters"),
        ('file = "block.py"', 'file = "../block.py"', "plain name"),
        ('file = "block.py"', 'file = "layer.py"', "taken twice"),
        ('names = ["Block"]', 'names = ["Layer"]', "taken twice"),
        ('student_writes = ["Block"]', 'student_writes = ["Blok"]', "did you mean Block"),
        ('uses = ["layer"]', 'uses = ["lair"]', "not an exercise above it"),
        ("test_wall_seconds = 2", "test_wall_seconds = 0", "above 0"),
        ("test_wall_seconds = 2", 'test_wall_seconds = "2"', "test_wall_seconds"),
        ("[[exercises]]", "[[exercises", "not TOML"),
    ],
)
def test_a_mistake_is_named(root, old, new, complaint):
    assert old in DECLARATION
    declare(root, DECLARATION.replace(old, new, 1))
    with pytest.raises(BrokenAssignment) as caught:
        assignment.load("demo", root)
    message = str(caught.value)
    assert complaint in message
    assert message.startswith("assignments/demo/assignment.toml")
    assert "\n" not in message


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(root, name):
    (root / name).unlink()
    with pytest.raises(BrokenAssignment, match=name):
        assignment.load("demo", root)
    assert assignment.load("demo", root, is_complete=False).id == "demo"


def test_an_unknown_assignment_names_the_nearest(root):
    with pytest.raises(UnknownAssignment, match="did you mean demo"):
        assignment.load("demmo", root)
    with pytest.raises(UnknownAssignment, match="there are: demo"):
        assignment.load("../../etc", root)


def test_an_unknown_exercise_names_the_nearest(root):
    with pytest.raises(KitError, match="did you mean layer"):
        assignment.load("demo", root).exercise("layr")


def test_the_root_is_found_from_a_folder_inside(root):
    assert assignment.find_root(root / "solutions" / "demo") == root.resolve()


def test_a_place_outside_any_kit_is_an_error(tmp_path):
    with pytest.raises(KitError, match="assignments/"):
        assignment.find_root(tmp_path)


def test_every_assignment_of_this_kit_is_right():
    root = assignment.find_root()
    for assignment_id in assignment.list_assignments(root):
        assert assignment.load(assignment_id, root).id == assignment_id
