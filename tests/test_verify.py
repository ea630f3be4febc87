"""Does verify notice what goes wrong with an assignment? Everything here breaks a copy of ours.

Each kind of damage is shown to the cheapest part of verify that must notice it: a test that is
deleted to the collection of tests and to the verdicts that the gallery declares, a tolerance that
is weakened to the calibration. `VERIFY_ALL=1` tries every tolerance, not a sample.
"""

from __future__ import annotations

import ast
import os
import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from autograder import expectation, right_styles, verify
from autograder.assignment import Assignment, load
from autograder.calibration import judge_right
from autograder.digest import Digester
from autograder.errors import KitError
from autograder.gallery import find_gallery
from autograder.results import Judgement, TestResult
from autograder.session import Session
from autograder.storage import OutputFolder
from autograder.totals import make_result

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("assignments", "solutions", "student_template", "docs")
SAMPLE = 1 if os.environ.get("VERIFY_ALL") else 3  # every so many tolerances are weakened
STYLES = (
    "reference",
    "right-emb-rewritten",
    "right-block-encoding-in-forward",
    "right-pe-rounded",
    "right-mha-log-softmax",
)
SKIPPED = {"verdict": "skipped", "points": Decimal(0)}
UPPER, LOWER = ("require_close", "require_small", "is_small"), ("require_large", "is_large")


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    """A copy of the kit's assignment, which tests may damage for a while."""
    root = tmp_path_factory.mktemp("kit")
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    return load("attention", root=root)


@pytest.fixture(scope="module")
def passed(kit: Assignment) -> Judgement:
    """What the judge says of a right answer."""
    session = Session(kit)
    try:
        results = [
            TestResult(
                id=test.id,
                exercise=test.exercise,
                title=test.title,
                visibility="hidden" if test.is_hidden else "public",
                verdict="passed",
                points=test.points,
                max_points=test.points,
            )
            for test in session.tests
        ]
    finally:
        session.close()
    return Judgement(tests=results)


@pytest.fixture
def material(kit: Assignment, passed: Judgement) -> verify.Material:
    """As if the judge had found the reference and one case of each kind right."""
    names = ["wrong-mha-scale-d-model", "right-mha-einsum"]
    folder = kit.gallery_dir / "wrong"
    names[0] = "wrong-" + min(path.name for path in folder.glob("mha-*"))
    made = verify.Material(kit, dict.fromkeys(["reference", *names], passed), {}, {}, [], [])
    for name in names:
        made.cases[name] = expectation.read_case(made.folder(name))
    return made


class Changed:
    """Changes a file for a while."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text
        self.before = path.read_text(encoding="utf-8")

    def __enter__(self) -> None:
        self.path.write_text(self.text, encoding="utf-8")

    def __exit__(self, *_: object) -> None:
        self.path.write_text(self.before, encoding="utf-8")


def run(check: verify.Check, material: verify.Material) -> list[str]:
    return list(check(material, verify.Finding("")))


# --- deleted tests --------------------------------------------------------------------------------


def list_tests(folder: Path) -> Iterator[tuple[Path, ast.FunctionDef]]:
    for path in sorted(folder.glob("test_*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield path, node


def cut(path: Path, node: ast.FunctionDef) -> str:
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    first = min(decorator.lineno for decorator in node.decorator_list) - 1
    return "".join(lines[:first] + lines[node.end_lineno :])


def test_a_deleted_test_is_missed_by_the_points(kit: Assignment) -> None:
    tests = list(list_tests(kit.hidden_tests))
    for path, node in tests[:: 1 if os.environ.get("VERIFY_ALL") else len(tests) // 2]:
        with Changed(path, cut(path, node)), pytest.raises(KitError, match="are worth"):
            Session(kit)


def test_a_deleted_test_is_missed_by_the_gallery_even_if_the_points_add_up(
    kit: Assignment, passed: Judgement
) -> None:
    gallery = verify.Material(kit, {}, {}, {}, [], [])
    names = [f"wrong-{path.name}" for path in sorted((kit.gallery_dir / "wrong").iterdir())]
    cases = [expectation.read_case(gallery.folder(name)) for name in names]
    for path, node in list_tests(kit.hidden_tests):
        gone = f"{path.stem.removeprefix('test_')}::{node.name}"
        left = Judgement(tests=[test for test in passed.tests if test.id != gone])
        assert len(left.tests) == len(passed.tests) - 1
        missed = [case for case in cases if f"there is no test {gone}" in compare(case, left)]
        assert missed, gone


def compare(case: expectation.Case, judgement: Judgement) -> list[str]:
    return expectation.compare(case, judgement)


# --- weakened tolerances --------------------------------------------------------------------------


class Literal(NamedTuple):
    """A number in a test that a verdict hangs on."""

    path: Path
    node: ast.Constant
    factor: float  # weakens it a hundredfold

    def weakened(self) -> str:
        lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
        line = lines[self.node.lineno - 1]
        assert isinstance(self.node.value, float)
        number = repr(self.node.value * self.factor)
        lines[self.node.lineno - 1] = (
            line[: self.node.col_offset] + number + line[self.node.end_col_offset :]
        )
        return "".join(lines)


def list_literals(folders: list[Path]) -> list[Literal]:
    """The bounds given to comparisons: as numbers, or by names that stand for numbers."""
    trees = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for folder in folders
        for path in sorted(folder.glob("*.py"))
    }
    found: list[Literal] = []
    names: dict[str, float] = {}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            called = node.func.id if isinstance(node, ast.Call) and is_name(node.func) else ""
            if called in UPPER + LOWER:
                bound = node.args[2 if called == "require_close" else 1]
                factor = 100 if called in UPPER else 0.01
                if isinstance(bound, ast.Constant):
                    found.append(Literal(path, bound, factor))
                else:
                    assert isinstance(bound, ast.Name), ast.unparse(node)
                    names[bound.id] = factor
    for path, tree in trees.items():
        for node in ast.walk(tree):
            for name, value in list_assigned(node):
                if name in names and isinstance(value, ast.Constant):
                    found.append(Literal(path, value, names[name]))
    return sorted(found, key=lambda literal: (literal.path, literal.node.lineno))


def is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def list_assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """What a statement gives to names: `a = 1`, and `for a, b in ((1, 2), (3, 4))`."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        yield node.targets[0].id, node.value
    if isinstance(node, ast.For) and isinstance(node.target, ast.Tuple):
        rows = node.iter.elts if isinstance(node.iter, ast.Tuple) else []
        for row in rows:
            if isinstance(row, ast.Tuple):
                for target, value in zip(node.target.elts, row.elts, strict=True):
                    if isinstance(target, ast.Name):
                        yield target.id, value


def complaints(kit: Assignment) -> list[str]:
    """What calibration says of the bounds, as seen from a few right answers."""
    found = right_styles.measure(kit, "1 thread", STYLES)
    return found.problems + [line for one in found.distances for line in judge_right(one)]


def test_a_weakened_tolerance_is_noticed(kit: Assignment) -> None:
    folders = [kit.hidden_tests, kit.public_tests]
    literals = list_literals(folders)
    assert len(literals) > 30
    assert complaints(kit) == []  # of these few, too
    for literal in literals[::SAMPLE]:
        where = f"{literal.path.name}:{literal.node.lineno}"
        with Changed(literal.path, literal.weakened()):
            assert complaints(kit), f"{where} can be weakened a hundredfold"


# --- what of a case is judged ---------------------------------------------------------------------


def test_of_most_cases_what_they_touch_is_judged_and_of_every_third_all(kit: Assignment) -> None:
    submissions = {s.student: s for s in find_gallery(kit).submissions}
    chosen = {name: tuple(verify.find_touched(kit, submissions, name)) for name in submissions}
    assert chosen["reference"] == chosen["template"] == ()
    assert list(chosen.values()).count(()) >= len(chosen) // verify.WHOLE
    for prefix, touched in (
        ("wrong-mha-", ("multi_head_attention", "attention_block")),
        ("wrong-pe-", ("positional_encoding", "attention_block")),
        ("wrong-block-", ("attention_block",)),
    ):
        found = [some for name, some in chosen.items() if name.startswith(prefix) and some]
        assert found.count(touched) > len(found) * 0.9, prefix


def test_the_gallery_graded_as_a_class_is_held_against_what_it_declares(
    kit: Assignment, passed: Judgement
) -> None:
    names = [f"{path.parent.name}-{path.name}" for path in kit.gallery_dir.glob("*/mha-c*")]
    right = [name for name in names if name.startswith("right-")]
    wrong = [name for name in names if name.startswith("wrong-")]
    results: dict[str, Any] = dict.fromkeys([*names, "reference", "hostile-fork_bomb"], passed)
    count, lines = expectation.compare_all(kit.gallery_dir, results)
    assert right and wrong and count == len(names)
    assert {line.partition(":")[0] for line in lines} == set(wrong)


# --- other damage ---------------------------------------------------------------------------------


def test_an_undamaged_copy_passes(material: verify.Material) -> None:
    for check in (verify.check_template, verify.check_privacy, verify.check_reference):
        assert run(check, material) == []


def test_a_stale_template(material: verify.Material) -> None:
    path = material.assignment.template_dir / "multi_head_attention.py"
    with Changed(path, path.read_text(encoding="utf-8") + "# mine\n"):
        assert "multi_head_attention.py" in run(verify.check_template, material)[0]


@pytest.mark.parametrize("kind", ["a hidden test", "a line of the solution"])
def test_a_leaking_template(material: verify.Material, kind: str) -> None:
    secrets = list(verify._secrets(material))
    secret = secrets[0] if kind == "a line of the solution" else secrets[-2]
    path = material.assignment.public_dir / "handout.md"
    with Changed(path, path.read_text(encoding="utf-8") + f"\n{secret}\n"):
        assert any(secret in line for line in run(verify.check_privacy, material))


def test_a_wrong_verdict(material: verify.Material) -> None:
    wrong = next(name for name in material.cases if name.startswith("wrong-"))
    lines = run(verify.check_gallery, material)
    assert lines and all(line.startswith(f"{wrong}: ") for line in lines)
    assert run(verify.check_wrong_cases, material)[0].startswith(f"{wrong} loses points in []")


def test_a_test_that_nothing_fails(material: verify.Material, passed: Judgement) -> None:
    lines = run(verify.check_coverage, material)
    assert len(lines) == len(passed.tests)
    assert "multi_head_attention::test_divisor" in " ".join(lines)


def test_a_template_that_is_already_solved(material: verify.Material, passed: Judgement) -> None:
    material.judgements = {**material.judgements, "template": passed}
    assert len(run(verify.check_unwritten, material)) == len(passed.tests)


def test_what_was_graded_before_is_judged_again_only_where_something_changed(
    kit: Assignment, passed: Judgement, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor what was judged at another level, nor what is not as its case declares."""
    monkeypatch.setattr(verify, "measure", lambda _: ([], []))
    known = [s for s in find_gallery(kit).submissions if not s.student.startswith(("h", "wrong"))]
    changed, odd, elsewhere = (submission.student for submission in known[7:10])
    digester = Digester(kit)
    graded = OutputFolder(tmp_path / "grades")
    failing = [*passed.tests[:-1], msgspec.structs.replace(passed.tests[-1], **SKIPPED)]
    with graded.open():
        for submission in known:
            student = submission.student
            digest = digester.digest(submission) if student != changed else "of other files"
            tests = passed.tests if student != odd else failing
            level = "full" if student != elsewhere else "process"
            judgement = Judgement(tests=tests, isolation=level)
            graded.write_result(kit, submission, make_result(kit, submission, digest, judgement))

    class Pool:
        """Notes what is to be judged, and finds all of it right."""

        isolation = "full"

        def __init__(self) -> None:
            self.asked: list[Mapping[str, bytes]] = []

        def submit(self, files: Mapping[str, bytes], *_: Any, **__: Any) -> Future[Judgement]:
            self.asked.append(files)
            future: Future[Judgement] = Future()
            future.set_result(passed)
            return future

    pool: Any = Pool()
    material = verify.gather(kit, pool, graded.path)
    anew = [s for s in known if s.student in ("reference", "template", changed, odd, elsewhere)]
    wrong = [s for s in find_gallery(kit).submissions if s.student.startswith("wrong")]
    assert pool.asked == [submission.files for submission in [*anew, *wrong]]
    assert len(material.judgements) == len(known) + len(wrong)
    assert material.graded == len(known) - len(anew)
    assert f"{len(known) - len(anew)} as graded before" in describe(material)

    test = kit.hidden_tests / "test_attention_block.py"
    with Changed(test, test.read_text(encoding="utf-8") + "\n"):
        pool = Pool()
        assert verify.gather(kit, pool, graded.path).graded == 0
        assert len(pool.asked) == len(known) + len(wrong)


def describe(material: verify.Material) -> str:
    finding = verify.Finding("")
    list(verify.check_gallery(material, finding))
    return finding.figure


def test_a_problem_of_one_check_does_not_stop_the_others(material: verify.Material) -> None:
    assert [finding.name for finding in verify.verify(material)] == list(verify.CHECKS)
