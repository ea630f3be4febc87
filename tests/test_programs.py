"""Does a judge, over random programs, pass the right ones and charge the wrong ones where due?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from autograder.assignment import load
from autograder.diagnosis import diagnose
from autograder.fault_table import Table
from autograder.faults import mutant
from autograder.judge import Judge
from autograder.sandbox import Station
from tests.programs import attention, block, encoding
from tests.programs.choices import Choose, Wrong, choose_wrong

WRITERS = {
    "multi_head_attention": attention,
    "positional_encoding": encoding,
    "attention_block": block,
}
SUBSETS = [chosen for size in (1, 2, 3) for chosen in combinations(WRITERS, size)]
EXAMPLES = int(os.environ.get("AUTOGRADER_EXAMPLES", "0"))
RIGHT, WRONG = (
    EXAMPLES or 30,
    EXAMPLES or 30,
)  # a judgement takes half a second, a wrong one a whole


@dataclass(frozen=True)
class Program:
    """The three files, and the wrong choices in each."""

    files: dict[str, str]
    wrong: dict[str, tuple[Wrong, ...]]

    def __str__(self) -> str:
        made = {exercise: [w.name for w in wrong] for exercise, wrong in self.wrong.items()}
        return "\n".join([str(made), *(f"# {name}\n{text}" for name, text in self.files.items())])


def compose(choose: Choose, exercises: tuple[str, ...] = ()) -> Program:
    """A program with wrong choices in these exercises."""
    most = {0: 0, 1: 3}.get(len(exercises), 2)
    wrong = {
        exercise: choose_wrong(choose, WRITERS[exercise].WRONG, WRITERS[exercise].CLASHES, most)
        for exercise in exercises
    }
    files = {
        f"{exercise}.py": writer.write(choose, wrong.get(exercise, ()))
        for exercise, writer in WRITERS.items()
    }
    return Program(files, wrong)


@st.composite
def programs(draw: st.DrawFn, is_wrong: bool) -> Program:
    def choose(ways):
        return draw(st.sampled_from(ways))

    return compose(choose, choose(SUBSETS) if is_wrong else ())


@pytest.fixture(scope="module")
def judge(warm_station: Station) -> Iterator[Judge]:
    judge = Judge(load("attention"), warm_station)
    yield judge
    judge.close()


def findings(judge: Judge, program: Program) -> list[str]:
    """What is not as it should be in the judgement of a program; nothing, one hopes."""
    judgement = judge.judge(program.files)
    verdicts = {test.id: test.verdict for test in judgement.tests}
    found = [
        f"{test.id}: {test.staff_message}" for test in judgement.tests
        if test.verdict == "grader_error"
        or (test.verdict != "passed" and test.exercise not in program.wrong)
    ]  # fmt: skip
    named = {diagnosis.exercise: set(diagnosis.faults) for diagnosis in judgement.diagnosis}
    found += [f"{exercise} is diagnosed" for exercise in named if exercise not in program.wrong]
    for exercise, wrong in program.wrong.items():
        mine = [test for test in judgement.tests if test.exercise == exercise]
        if sum(test.points for test in mine) == sum(test.max_points for test in mine):
            found.append(f"{exercise}: nothing is charged")
        dictionary = judge.dictionaries[exercise]
        known = dictionary.faults()
        if [choice.name for choice in wrong if choice.known and choice.name not in known]:
            found.append(f"{exercise}: not in the dictionary")
            continue
        expected = {choice.name for choice in wrong if choice.known}
        costs = sum(known[name].cost for name in expected)
        unknown = any(not choice.known and not choice.only_form for choice in wrong)
        wanted = set()
        if expected and not unknown and costs <= dictionary.budget:
            # Some combinations cannot be told apart, and some are lost in rounding.
            same = diagnose(dictionary, mutant(dictionary, *expected), Table.of(dictionary))
            wanted = set(same.faults) if same else set()
            if wanted and not wanted >= expected:
                found.append(f"{exercise}: {expected} comes to the same as {wanted}")
        if named.get(exercise, set()) != wanted:
            found.append(f"{exercise}: diagnosed {named.get(exercise)}; expected {wanted}")
        elif is_about_each(judge, program, exercise, wanted) and all(
            verdicts[known[name].test] == "passed" for name in wanted
        ):
            found.append(f"{exercise}: no test about one of {wanted} fails")
    return found


def is_about_each(judge: Judge, program: Program, exercise: str, faults: set[str]) -> bool:
    """Whether the tests about these faults must see them.

    Two faults for one test may hide each other from it, as may faults of a file that is imported;
    the test about the whole answer charges them.
    """
    known = judge.dictionaries[exercise].faults()
    upstream = set(judge.assignment.exercise(exercise).uses) & set(program.wrong)
    return bool(faults) and not upstream and len({known[f].test for f in faults}) == len(faults)


def bounded(examples: int) -> settings:
    return settings(
        max_examples=examples, derandomize=True, deadline=None, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip


@bounded(RIGHT)
@given(program=programs(is_wrong=False))
def test_a_right_program_gets_full_marks(judge: Judge, program: Program) -> None:
    note(str(program))
    assert findings(judge, program) == []


@bounded(WRONG)
@given(program=programs(is_wrong=True))
def test_a_wrong_program_is_charged_where_it_is_wrong(judge: Judge, program: Program) -> None:
    note(str(program))
    assert findings(judge, program) == []
