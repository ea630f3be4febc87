"""Does a judge give the right verdicts, charge once, and say no more than it may?"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder import protocol
from autograder.assignment import Assignment, load
from autograder.errors import KitError
from autograder.judge import Judge
from autograder.remote import Submission
from autograder.results import Judgement, TestResult
from autograder.sandbox import Station

DECLARATION = """
id = "mini"
title = "Mini"
points = "12"

[limits]
import_wall_seconds = 2
test_wall_seconds = 0.5

[[exercises]]
id = "double"
title = "Double"
file = "double.py"
names = ["double"]
student_writes = ["double"]
points = "4"
public_points = "1"

[[exercises]]
id = "scale"
title = "Scale"
file = "scale.py"
names = ["Scale"]
student_writes = ["Scale.forward"]
points = "4"
public_points = "1"

[[exercises]]
id = "both"
title = "Both"
file = "both.py"
names = ["Both"]
student_writes = ["Both.__init__", "Both.forward"]
points = "4"
public_points = "1"
uses = ["double", "scale"]
"""

RIGHT = {
    "double.py": '''"""Doubling."""


def double(x):
    """Twice x."""
    # BEGIN SOLUTION
    return x * 2
    # END SOLUTION
''',
    "scale.py": '''import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(width))

    def forward(self, x):
        """x times the factor."""
        # BEGIN SOLUTION
        return x * self.factor
        # END SOLUTION
''',
    "both.py": """from torch import nn

from double import double
from scale import Scale


class Both(nn.Module):
    def __init__(self, width):
        super().__init__()
        # BEGIN SOLUTION
        self.scale = Scale(width)
        # END SOLUTION

    def forward(self, x):
        # BEGIN SOLUTION
        return double(self.scale(x))
        # END SOLUTION
""",
}

TESTS = {
    "assignments/mini/tests/test_double.py": """
import pytest, torch

@pytest.mark.graded(points="1", title="Two becomes four", hint="What is twice two?")
def test_two(submission):
    got = submission.double(torch.tensor([2.0]))
    assert got.tolist() == [4.0], f"expected 4, got {got.tolist()}"
""",
    "assignments/mini/tests/test_scale.py": """
import pytest, torch

@pytest.mark.graded(points="1", title="The factor is kept", hint="Did you change it?")
def test_factor(submission):
    assert [name for name, _ in submission.Scale(3).named_parameters()] == ["factor"]
""",
    "assignments/mini/tests/test_both.py": """
import pytest, torch

@pytest.mark.graded(points="1", title="It can be made", hint="")
def test_made(submission):
    submission.Both(3)
""",
    "solutions/mini/tests/test_double.py": """
import pytest, torch

@pytest.mark.graded(points="3", title="Every number is doubled", hint="Even negative ones?",
                    flag="odd_double")
def test_numbers(submission):
    x = torch.tensor([-1234.5, 0.0, 17.0])
    got = submission.double(x)
    assert torch.equal(got, x * 2), f"expected {x * 2}, got {got}"
""",
    "solutions/mini/tests/test_scale.py": """
import pytest, torch

@pytest.mark.graded(points="3", title="Every feature has its factor", hint="Which axis?")
def test_values(submission):
    scale = submission.Scale(2)
    scale.load_state_dict({"factor": torch.tensor([3.0, 5.0])})
    assert scale(torch.ones(4, 2)).tolist() == [[3.0, 5.0]] * 4
""",
    "solutions/mini/tests/test_both.py": """
import pytest, torch

@pytest.mark.graded(points="2", title="Both are applied", hint="One after the other?")
def test_values(submission):
    both = submission.Both(2)
    name = next(iter(both.state_dict()))
    both.load_state_dict({name: torch.tensor([3.0, 5.0])})
    with torch.no_grad():
        assert both(torch.ones(4, 2)).tolist() == [[6.0, 10.0]] * 4

@pytest.mark.graded(points="1", title="Gradients arrive", hint="Did you leave the graph?")
def test_gradient(submission):
    both = submission.Both(2)
    parameter = next(both.parameters())
    both(torch.tensor([[7.0, 9.0]])).sum().backward()
    assert parameter.grad.tolist() == [14.0, 18.0]
""",
}

Judging = Callable[..., Judgement]


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    root = tmp_path_factory.mktemp("kit")
    write(root / "assignments/mini/assignment.toml", DECLARATION)
    write(root / "assignments/mini/handout.md", "# Mini\n")
    for name, text in TESTS.items():
        write(root / name, text)
    for name, text in RIGHT.items():
        write(root / "solutions/mini" / name, text)
    return load("mini", root)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def judge(mini: Assignment, warm_station: Station) -> Iterator[Judge]:
    judge = Judge(mini, warm_station)
    yield judge
    judge.close()


@pytest.fixture
def judge_with(judge: Judge) -> Judging:
    """Judges the right files with some changed; a file changed to None is not there."""

    def judge_with(**changes: str | None) -> Judgement:
        files = RIGHT | {f"{name}.py": text for name, text in changes.items()}
        return judge.judge({name: text for name, text in files.items() if text is not None})

    return judge_with


def verdicts_of(judgement: Judgement) -> dict[str, str]:
    return {test.id: test.verdict for test in judgement.tests if test.verdict != "passed"}


def find(judgement: Judgement, test_id: str) -> TestResult:
    return next(test for test in judgement.tests if test.id == test_id)


def test_a_right_submission_passes_everything(judge_with: Judging) -> None:
    judgement = judge_with()
    assert verdicts_of(judgement) == {} and judgement.carried_forward == []
    assert sum(test.points for test in judgement.tests) == 12
    assert [test.id for test in judgement.tests][:2] == ["double::test_two", "double::test_numbers"]


def test_the_same_submission_gives_the_same_judgement(judge_with: Judging) -> None:
    wrong = "def double(x): return x.hypot(x)"
    assert judge_with(double=wrong) == judge_with(double=wrong)


def test_the_template_is_not_yet_written_everywhere(judge: Judge) -> None:
    judgement = judge.judge(judge.stubs)
    assert set(verdicts_of(judgement).values()) == {"missing"}
    assert len(verdicts_of(judgement)) == len(judgement.tests)
    assert {test.message for test in judgement.tests} == {"Not yet written."}


def test_a_wrong_exercise_is_charged_there_and_not_downstream(judge_with: Judging) -> None:
    judgement = judge_with(double="def double(x): return x * 3")
    assert set(verdicts_of(judgement)) == {"double::test_two", "double::test_numbers"}
    assert judgement.carried_forward == ["both"] and judgement.flags == ["odd_double"]


def test_gradients_flow_through_supplied_values(judge_with: Judging) -> None:
    wrong = RIGHT["scale.py"].replace("x * self.factor", "x * self.factor.detach()")
    judgement = judge_with(scale=wrong.replace("x *", "7 + x *"))
    assert set(verdicts_of(judgement)) == {"scale::test_values"}
    assert judgement.carried_forward == ["both"]


@pytest.mark.parametrize(
    "broken",
    [None, "", "import nothing_like_it", "def double(x) return", "raise SystemExit",
     "while True: pass",
     "import os; os._exit(0)", 'def double(x): raise NotImplementedError("mini / double")'],
    ids=["absent", "empty", "import", "syntax", "exit", "endless", "dead", "unwritten"],
)  # fmt: skip
def test_a_broken_file_costs_its_own_exercise_only(judge_with: Judging, broken: str | None) -> None:
    judgement = judge_with(double=broken)
    assert set(verdicts_of(judgement)) == {"double::test_two", "double::test_numbers"}
    assert judgement.carried_forward == ["both"]


def test_a_wrong_use_of_right_parts_is_charged_where_it_is(judge_with: Judging) -> None:
    wrong = RIGHT["both.py"].replace("double(self.scale(x))", "self.scale(x) + 0 * double(x)")
    judgement = judge_with(both=wrong)
    assert set(verdicts_of(judgement)) == {"both::test_values", "both::test_gradient"}
    assert judgement.carried_forward == []


def test_two_faults_are_both_charged(judge_with: Judging) -> None:
    wrong = RIGHT["both.py"].replace("double(self.scale(x))", "self.scale(x)")
    judgement = judge_with(both=wrong, double="def double(x): return x * 3")
    assert {test_id.split("::")[0] for test_id in verdicts_of(judgement)} == {"double", "both"}


def test_helpers_of_a_wrong_file_are_still_there_downstream(judge_with: Judging) -> None:
    wrong = "def double(x): return x * 3\ndef helper(x): return x"
    both = RIGHT["both.py"].replace("import double", "import double, helper")
    judgement = judge_with(
        double=wrong,
        both=both.replace("double(self", "double(helper(self").replace("(x))", "(x)))"),
    )
    assert set(verdicts_of(judgement)) == {"double::test_two", "double::test_numbers"}


def test_slow_code_is_given_up_on_and_the_rest_is_judged(judge_with: Judging) -> None:
    slow = RIGHT["both.py"].replace("return double", "while True: pass\n        return double")
    verdicts = verdicts_of(judge_with(both=slow))
    assert verdicts == {"both::test_values": "timed_out", "both::test_gradient": "skipped"}


@pytest.mark.parametrize("tests", [2, 4])
def test_a_busy_machine_costs_no_points(
    tests: int, judge_with: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is 0.5 s; 0.3 s of computing take about 1.5 s beside eight busy processes.

    The same goes for the limit that all tests of an exercise have together.
    """
    monkeypatch.setattr("autograder.judge.MAX_TESTS", tests)
    source = """
import time
def double(x):
    until = time.process_time() + 0.3
    while time.process_time() < until: pass
    return x * 2
"""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(8)]
    try:
        assert verdicts_of(judge_with(double=source)) == {}
    finally:
        for process in busy:
            process.kill()


@pytest.mark.parametrize("wait", ["time.sleep(0.3)", "while time.process_time() < 0.3: pass"])
def test_all_tests_together_have_a_limit(
    wait: str, judge_with: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.judge.MAX_TESTS", 0.2)
    judgement = judge_with(double=f"import time\ndef double(x):\n    {wait}\n    return x * 2")
    assert find(judgement, "double::test_two").verdict == "passed"
    assert find(judgement, "double::test_numbers").verdict == "skipped"


COMPUTE = """
import os, time
def compute(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until: pass
"""


@pytest.mark.parametrize("end", ["os._exit(0)", "raise ValueError"])
def test_who_crashes_is_charged_what_it_has_computed(
    end: str, judge_with: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.judge.MAX_TESTS", 0.3)
    crashing = f"compute(0.3)\ndef double(x):\n    compute(0.2)\n    {end}"
    judgement = judge_with(double=COMPUTE + crashing)
    assert find(judgement, "double::test_two").verdict in ("crashed", "raised")
    assert find(judgement, "double::test_numbers").verdict == "skipped"


def test_who_sleeps_between_computing_has_an_end_too(
    judge_with: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of the time is computing: too much for one that sleeps."""
    monkeypatch.setattr("autograder.judge.MAX_TESTS", 0.2)
    source = """
def double(x):
    for _ in range(5):
        compute(0.01)
        time.sleep(0.09)
    return x * 2
"""
    judgement = judge_with(double=COMPUTE + source)
    assert find(judgement, "double::test_two").verdict == "passed"
    assert find(judgement, "double::test_numbers").verdict == "skipped"


def test_questions_do_not_stop_the_clock(judge_with: Judging) -> None:
    """Computing between questions to a stand-in is still computing: the limit is 0.5 s."""
    asking = RIGHT["both.py"].replace(
        "return double", "[(compute(0.1), double(x)) for _ in range(60)]\n        return double"
    )
    wrong = "def double(x): return x * 3"
    judgement = judge_with(double=wrong, both=COMPUTE + asking)
    assert find(judgement, "both::test_values").verdict == "timed_out"


@pytest.mark.parametrize("where", ["before a test", "in a test", "while an answer waits"])
def test_a_grader_that_stands_still_costs_no_points(
    where: str, judge: Judge, judge_with: Judging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever stops a run with Ctrl-Z and goes on later stops the judges, not the workers."""
    target: tuple[Any, str] = (protocol, "send")
    if where == "before a test":
        target = (judge._session, "run")
    if where == "in a test":
        target = (Submission, "exchange")
    real, stalls = getattr(*target), iter([0.6] * 3)

    def stall(*arguments: Any, **named: Any) -> Any:
        done = real(*arguments, **named)
        time.sleep(next(stalls, 0.0))
        return done

    monkeypatch.setattr("autograder.judge.MAX_TESTS", 1)
    monkeypatch.setattr(*target, stall)
    assert verdicts_of(judge_with()) == {}


def test_hidden_messages_hold_no_inputs_and_public_ones_do(judge_with: Judging) -> None:
    judgement = judge_with(double="def double(x): return x * 3")
    public, hidden = find(judgement, "double::test_two"), find(judgement, "double::test_numbers")
    assert public.message.startswith("expected 4, got [6.0]\n")
    assert public.message.endswith("\nWhat is twice two?")
    assert hidden.message == "Even negative ones?" and "1234.5" in hidden.staff_message


def test_an_exception_cannot_carry_hidden_inputs_out(judge_with: Judging) -> None:
    judgement = judge_with(double="def double(x):\n    raise ValueError(str(x))")
    hidden = find(judgement, "double::test_numbers")
    assert hidden.verdict == "raised" and "1234.5" in hidden.staff_message
    assert (
        hidden.message
        == "Your code raised ValueError (double.py, line 2: raise ValueError(str(x)))."
    )


def test_points_that_do_not_add_up_are_the_kits_fault(
    mini: Assignment, warm_station: Station, tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(mini.root, tmp_path / "kit")
    path = tmp_path / "kit/solutions/mini/tests/test_double.py"
    write(path, path.read_text(encoding="utf-8").replace('points="3"', 'points="2"'))
    with pytest.raises(KitError, match="The tests of double are worth 3 points"):
        Judge(load("mini", tmp_path / "kit"), warm_station)


def test_a_test_that_breaks_is_a_grader_error(
    mini: Assignment, warm_station: Station, tmp_path: Path
) -> None:
    import shutil

    shutil.copytree(mini.root, tmp_path / "kit")
    path = tmp_path / "kit/solutions/mini/tests/test_double.py"
    write(path, path.read_text(encoding="utf-8").replace("torch.equal(got", "torch.equall(got"))
    judge = Judge(load("mini", tmp_path / "kit"), warm_station)
    assert verdicts_of(judge.judge(RIGHT)) == {"double::test_numbers": "grader_error"}
    judge.close()
