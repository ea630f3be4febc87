"""Are bounds that stand wrongly between right and wrong answers found?"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder import right_styles
from autograder.assignment import load
from autograder.calibration import calibrate, judge_right
from autograder.faults import Axis, Dictionary, Fault
from autograder.proof import Proof
from autograder.right_styles import Distance, Found

TEST, BOUND = "layer::test_values", "<= 0.001"


def right(error: float = 0.1, anchor: float = 0.1, spared: float = 0.0) -> Distance:
    return Distance(TEST, BOUND, error, "right-one, 1 thread", anchor, spared, 1.0)


def measured(error: float) -> SimpleNamespace:
    return SimpleNamespace(error=error, tolerance=1.0, bound=BOUND)


def problems(*distances: Distance, nearest: float = 500.0, **changes: object) -> list[str]:
    fault = Fault("half", "it is half", "Which half?", TEST, None)
    dictionary = Dictionary(
        exercise="layer",
        axes=(Axis("size", None, (fault,)),),
        steps=(),
        start=lambda _: {},
        probe=lambda _: None,
        **changes,  # type: ignore[arg-type]
    )
    proof = Proof("layer", judged={("half", TEST): (nearest > 1, [measured(nearest)])})
    (margins,) = calibrate([dictionary], [proof], Found(list(distances)))
    return margins.problems


def test_a_bound_in_its_place() -> None:
    assert problems(right()) == []


def test_a_right_answer_that_is_almost_failed() -> None:
    assert "right-one, 1 thread is 0.6 tolerances away" in problems(right(error=0.6))[0]


def test_a_tolerance_that_nothing_needs() -> None:
    assert "1000 times what right answers need" in problems(right(error=0, anchor=1e-3))[0]


def test_a_hundredfold_is_always_too_loose() -> None:
    assert list(judge_right(right(0.5 / 100, 0.499 / 100)))


def test_a_wrong_answer_that_almost_passes() -> None:
    assert "half is only 50 tolerances away" in problems(right(), nearest=50)[0]


def test_a_slight_mistake_is_excused_if_it_is_declared() -> None:
    assert problems(right(), nearest=2.5, slight=("half",)) == []
    assert problems(right(), nearest=1.5, slight=("half",))


@pytest.mark.parametrize(("most", "is_fine"), [(0.2, True), (0.1, False)])
def test_what_a_test_spares_is_held_against_known_mistakes(most: float, is_fine: bool) -> None:
    assert (problems(right(anchor=0.3, spared=0.3), nearest=most) == []) == is_fine


def test_failures_of_right_answers_are_told() -> None:
    found = Found([], [f"{TEST} fails for right-one"])
    dictionary = Dictionary("layer", (), (), lambda _: {}, lambda _: None)
    assert calibrate([dictionary], [Proof("layer")], found)[0].problems == found.problems


def test_every_setting_is_measured_in_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assignment = load("attention")
    monkeypatch.setattr(right_styles, "SETTINGS", {"2 threads": 2})
    found = right_styles.collect(right_styles.start(assignment, tmp_path))
    assert found.problems == []
    assert {distance.test.partition("::")[0] for distance in found.distances} == {
        exercise.id for exercise in assignment.exercises
    }
    assert all(distance.by.endswith("2 threads") for distance in found.distances)
