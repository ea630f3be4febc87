"""Is an assignment complete and true to itself? Every promise of its author, held one by one.

Each check is a function that yields what is wrong, with what to do about it; none stops the
others. The reference, the bare template and the gallery's right and wrong cases are judged on the
way. Hostile cases are about the boundary, not about the assignment: tests/test_hostile.py has them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder import drawing, expectation, fault_figures, right_styles, scaffold
from autograder.assignment import Assignment
from autograder.calibration import Margins, calibrate
from autograder.digest import Digester
from autograder.errors import KitError
from autograder.expectation import Case
from autograder.fault_page import render_fault_page
from autograder.fault_table import Table
from autograder.faults import load_dictionaries
from autograder.gallery import find_gallery
from autograder.intake import Submission
from autograder.pool import Pool
from autograder.proof import Proof, prove
from autograder.results import Judgement, Result
from autograder.sandbox import run_pytest
from autograder.session import Session
from autograder.storage import OutputFolder
from autograder.template import END, build_template, stale_files

REFERENCE, TEMPLATE = "reference", "template"
WHOLE = 3  # one in so many cases is judged whole


@dataclass
class Material:
    """What checks look at: the assignment, its gallery, and what the judge said of it."""

    assignment: Assignment
    judgements: Mapping[str, Judgement | Result]
    submissions: dict[str, Submission]
    cases: dict[str, Case]
    proofs: list[Proof]
    margins: list[Margins]
    graded: int = 0  # how many of the cases have been judged before, by `autograder grade`

    def folder(self, student: str) -> Path:
        return folder_of(self.assignment, student)


@dataclass
class Finding:
    """One promise: its name, a figure where there is one, and what is wrong with it."""

    name: str
    figure: str = ""
    problems: list[str] = field(default_factory=list)


Check = Callable[[Material, Finding], Iterator[str]]


def folder_of(assignment: Assignment, student: str) -> Path:
    """The folder of a gallery case."""
    kind, _, case = student.partition("-")
    return assignment.gallery_dir / kind / case


def gather(assignment: Assignment, pool: Pool, graded: Path | None = None) -> Material:
    """Judges the reference, the template and the gallery.

    What `autograder grade` has left in the folder `graded` is taken from there where judging again
    would repeat it.

    Raises:
        KitError: something could not even be judged.
    """
    intake = find_gallery(assignment)
    submissions = {
        submission.student: submission
        for submission in intake.submissions
        if not submission.student.startswith("hostile-")
    }
    cases = {
        student: expectation.read_case(folder_of(assignment, student))
        for student in submissions
        if student not in (REFERENCE, TEMPLATE)
    }
    known: dict[str, Result] = {}
    if graded is not None:
        old = find_graded(assignment, submissions.values(), graded, pool.isolation)
        known = {s: r for s, r in old.items() if s in cases and is_as_declared(cases[s], r)}
    futures: dict[str, Future[Judgement]] = {
        student: pool.submit(
            submission.files, find_touched(assignment, submissions, student), draws=False
        )
        for student, submission in submissions.items()
        if not submission.ungradable and student not in known
    }
    proofs, margins = measure(assignment)  # while the judges are at work
    judgements = {student: future.result() for student, future in futures.items()} | known
    return Material(assignment, judgements, submissions, cases, proofs, margins, len(known))


def find_graded(
    assignment: Assignment, submissions: Iterable[Submission], folder: Path, isolation: str
) -> dict[str, Result]:
    """The results in a folder of `autograder grade` that are of these files and these tests."""
    digester, graded = Digester(assignment), OutputFolder(folder)
    found = {}
    for submission in submissions:
        result = graded.read_result(assignment, submission.student)
        if result is None or result.status != "graded" or result.isolation != isolation:
            continue
        if result.digest == digester.digest(submission):
            found[submission.student] = result
    return found


def is_as_declared(case: Case, result: Judgement | Result) -> bool:
    """Whether nothing about it is amiss: what is, deserves a second look."""
    return list_named(result) == set(case.faults) and not expectation.compare(case, result)


def list_named(result: Judgement | Result) -> set[str]:
    """The faults that a diagnosis names."""
    return {fault for diagnosis in result.diagnosis for fault in diagnosis.faults}


def find_touched(
    assignment: Assignment, submissions: Mapping[str, Submission], student: str
) -> list[str]:
    """The exercises to judge of a case; none are all of them.

    What a case leaves as it is in the reference, and builds on nothing else, is judged in every
    third case. `autograder grade` without a class judges all of every case, and says what differs.
    """
    if list(submissions).index(student) % WHOLE == 0 or student in (REFERENCE, TEMPLATE):
        return []
    files, right = submissions[student].files, submissions[REFERENCE].files
    touched: list[str] = []
    for exercise in assignment.exercises:  # each after what it uses
        is_own = files.get(exercise.file) != right[exercise.file]
        if is_own or not set(touched).isdisjoint(exercise.uses):
            touched.append(exercise.id)
    return touched


def measure(assignment: Assignment) -> tuple[list[Proof], list[Margins]]:
    """What the fault dictionaries prove about the tests, and where the tests' bounds stand."""
    with tempfile.TemporaryDirectory() as folder:
        runs = right_styles.start(assignment, Path(folder))
        try:
            proofs = prove_all(assignment)
        finally:
            found = right_styles.collect(runs)
    dictionaries = load_dictionaries(assignment.solution_dir)
    return proofs, calibrate(dictionaries.values(), proofs, found)


def prove_all(assignment: Assignment) -> list[Proof]:
    """What each exercise's fault dictionary proves about its tests."""
    session = Session(assignment)
    try:
        dictionaries = load_dictionaries(assignment.solution_dir)
        proofs = [prove(dictionary, session.tests) for dictionary in dictionaries.values()]
    finally:
        session.close()
    for proof, dictionary in zip(proofs, dictionaries.values(), strict=True):
        proof.distinct = fault_figures.measure(Table.of(dictionary)).distinct
    return proofs


def verify(material: Material) -> Iterator[Finding]:
    """Runs every check, in the order in which an author would mend what they find."""
    for name, check in CHECKS.items():
        finding = Finding(name)
        try:
            finding.problems = list(check(material, finding))
        except KitError as error:
            finding.problems = [str(error)]
        yield finding


def accept(material: Material) -> list[str]:
    """Writes the verdicts that the gallery got into its cases; returns those that changed."""
    changed = []
    exercises = [exercise.id for exercise in material.assignment.exercises]
    for student, case in material.cases.items():
        judgement = material.judgements.get(student)
        if judgement is not None and expectation.compare(case, judgement):
            expectation.accept(material.folder(student), judgement, exercises)
            changed.append(student)
    page = render_fault_page(material.assignment, material.proofs, material.judgements[REFERENCE])
    path = material.assignment.root / "docs" / f"faults-{material.assignment.id}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(page, encoding="utf-8", newline="\n")
    return changed


def reread(material: Material) -> Material:
    """The same material with the cases as they are now."""
    cases = {student: expectation.read_case(material.folder(student)) for student in material.cases}
    return replace(material, cases=cases)


def check_marks(material: Material, _: Finding) -> Iterator[str]:
    """Nothing of the skeleton is left that its author should have replaced."""
    yield from scaffold.find_marks(material.assignment)


def check_template(material: Material, _: Finding) -> Iterator[str]:
    """The committed template is what the sources build."""
    stale = stale_files(material.assignment)
    if stale:
        yield (
            f"{', '.join(stale[:4])} in {material.assignment.template_dir.name}/ differs from what "
            f"the sources build. Run: make template A={material.assignment.id}"
        )


def check_privacy(material: Material, _: Finding) -> Iterator[str]:
    """Nothing of the staff's side stands in what students get."""
    built = build_template(material.assignment)
    text = "\n".join(built.values())
    for secret in _secrets(material):
        if secret in text:
            yield f"the template holds {secret!r}, which is the staff's. Take it out of its source."


def _secrets(material: Material) -> Iterator[str]:
    """Solution lines of some length, and the names of hidden tests."""
    for exercise in material.assignment.exercises:
        source = (material.assignment.solution_dir / exercise.file).read_text(encoding="utf-8")
        for part in source.split("# BEGIN SOLUTION")[1:]:
            for line in part.split(END)[0].splitlines():
                if len(line.strip()) > 24:
                    yield line.strip()
    for test in material.judgements[REFERENCE].tests:
        if test.visibility == "hidden":
            yield test.id
            yield f"title={test.title!r}".replace("'", '"')


def check_reference(material: Material, finding: Finding) -> Iterator[str]:
    """The reference gets full points."""
    judgement = material.judgements[REFERENCE]
    finding.figure = f"{len(judgement.tests)} tests"
    for test in judgement.tests:
        if test.verdict != "passed":
            yield f"{test.id} is {test.verdict}: {test.staff_message[:200]}"


def check_unwritten(material: Material, _: Finding) -> Iterator[str]:
    """The bare template gets nothing, and hears that it is not yet written."""
    if TEMPLATE not in material.judgements:
        yield f"there is no template. Run: make template A={material.assignment.id}"
        return
    for test in material.judgements[TEMPLATE].tests:
        if test.verdict != "missing":
            yield f"on the bare template {test.id} is {test.verdict}, not missing."


def check_gallery(material: Material, finding: Finding) -> Iterator[str]:
    """Every case of the gallery gets the verdicts that it declares."""
    kinds = [student.partition("-")[0] for student in material.cases]
    finding.figure = ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("right", "wrong"))
    if material.graded:
        finding.figure += f"; {material.graded} as graded before"
    for student, case in material.cases.items():
        judgement = material.judgements.get(student)
        if judgement is None:
            yield f"{student} cannot be judged: {material.submissions[student].ungradable}"
            continue
        for line in expectation.compare(case, judgement):
            yield f"{student}: {line}"


def check_wrong_cases(material: Material, finding: Finding) -> Iterator[str]:
    """No wrong case passes; it loses points in the exercises that it names, and there only."""
    for student, case in material.cases.items():
        judgement = material.judgements.get(student)
        if not student.startswith("wrong-") or judgement is None:
            continue
        lost = {test.exercise for test in judgement.tests if test.verdict != "passed"}
        if lost != set(case.exercises):
            yield f"{student} loses points in {sorted(lost)}; it says {sorted(case.exercises)}."


def check_coverage(material: Material, _: Finding) -> Iterator[str]:
    """Every graded test is failed by some wrong case, by what it tests and not by a crash."""
    failed = {
        test.id
        for student, judgement in material.judgements.items()
        if student.startswith("wrong-")
        for test in judgement.tests
        if test.verdict == "failed"
    }
    for test in material.judgements[REFERENCE].tests:
        if test.id not in failed:
            yield f"no wrong case fails {test.id}. Add one to the gallery, or drop the test."


def check_public_tests(material: Material, _: Finding) -> Iterator[str]:
    """The public tests pass on the solution in plain pytest, as a student runs them."""
    assignment = material.assignment
    with tempfile.TemporaryDirectory() as folder:
        for name, text in build_template(assignment).items():
            path = Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for exercise in assignment.exercises:
            source = (assignment.solution_dir / exercise.file).read_text(encoding="utf-8")
            (Path(folder) / exercise.file).write_text(source, encoding="utf-8")
        code, output = run_pytest(Path(folder))
    if code != 0:
        yield f"plain pytest on the solution ends with {code}: {output[-600:]}"


def check_faults(material: Material, finding: Finding) -> Iterator[str]:
    """Every fault, and every combination, is caught; single ones by the test about them."""
    total = [sum(p.faults for p in material.proofs), sum(p.entries for p in material.proofs)]
    caught = sum(proof.caught for proof in material.proofs)
    distinct = sum(proof.distinct for proof in material.proofs)
    finding.figure = (
        f"{total[0]} faults; {total[1]} entries, {caught} caught, {distinct} told apart"
    )
    for proof in material.proofs:
        yield from proof.problems


def check_bounds(material: Material, finding: Finding) -> Iterator[str]:
    """Every number that a test judges by stands well between right and wrong answers."""
    finding.figure = "; ".join(map(str, material.margins))
    for margins in material.margins:
        yield from margins.problems


def check_diagnoses(material: Material, finding: Finding) -> Iterator[str]:
    """A case whose faults are in the dictionary is named exactly; no other is named wrongly."""
    named = 0
    for student, case in material.cases.items():
        judgement = material.judgements.get(student)
        if judgement is None:
            continue
        found = list_named(judgement)
        named += bool(found) and found == set(case.faults)
        if found != set(case.faults):
            yield f"{student} is diagnosed as {sorted(found)}; it declares {sorted(case.faults)}."
    finding.figure = f"{named} cases named"


def check_pictures(material: Material, _: Finding) -> Iterator[str]:
    """What feedback pages show of the reference is what they show as right."""
    yield from drawing.find_problems(material.assignment)


def check_fault_page(material: Material, _: Finding) -> Iterator[str]:
    """The instructor's table of what each mistake costs is up to date."""
    path = material.assignment.root / "docs" / f"faults-{material.assignment.id}.md"
    page = render_fault_page(material.assignment, material.proofs, material.judgements[REFERENCE])
    if not path.is_file() or path.read_text(encoding="utf-8") != page:
        command = f"make verify A={material.assignment.id} ARGS=--accept"
        yield f"docs/{path.name} is out of date. Run: {command}"


CHECKS: dict[str, Check] = {
    "nothing is left to fill in": check_marks,
    "the template is up to date": check_template,
    "nothing of the staff's side is handed out": check_privacy,
    "the reference gets full points": check_reference,
    "the bare template is not yet written": check_unwritten,
    "every gallery case gets its verdicts": check_gallery,
    "wrong cases lose points where they are wrong": check_wrong_cases,
    "every test is failed by a wrong case": check_coverage,
    "every known mistake is caught": check_faults,
    "tolerances are neither too tight nor too loose": check_bounds,
    "diagnoses name what is wrong": check_diagnoses,
    "pictures show the reference as it should be": check_pictures,
    "the table of what mistakes cost is up to date": check_fault_page,
    "public tests pass in plain pytest": check_public_tests,
}
