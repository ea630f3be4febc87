"""Is time counted as what code can help, and has it an end all the same?"""

from __future__ import annotations

from typing import Any

import pytest

from autograder import budget as budgets
from autograder.budget import ASLEEP, LENIENCE, PATIENCE, Budget


class Clock:
    """A clock, and a worker that computes a share of the time."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.used: float | None = 5.0
        self.is_asleep = False

    def monotonic(self) -> float:
        return self.now

    def computing_seconds(self) -> float | None:
        return self.used

    def is_idle(self) -> bool:
        return self.is_asleep

    def pass_by(self, seconds: float, share: float = 1.0) -> None:
        self.now += seconds
        if self.used is not None:
            self.used += seconds * share


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(budgets, "time", clock)
    return clock


def begin(clock: Any) -> Budget:
    budget = Budget(2.0)
    budget.begin(clock)
    return budget


def test_computing_is_what_counts(clock: Clock) -> None:
    budget = begin(clock)
    clock.pass_by(1.9)
    assert not budget.is_over() and budget.left() == pytest.approx(0.1)
    clock.pass_by(0.2)
    assert budget.is_over() and budget.charge() == pytest.approx(2.1)


def test_a_busy_machine_is_no_fault_up_to_a_point(clock: Clock) -> None:
    budget = begin(clock)
    clock.pass_by(2.0 * PATIENCE - 0.1, share=0.1)
    assert not budget.is_over()
    clock.pass_by(0.2, share=0.1)
    assert budget.is_over()


def test_sleeping_takes_time_too(clock: Clock) -> None:
    budget = begin(clock)
    clock.pass_by(2.1, share=ASLEEP / 2)
    assert not budget.is_over()  # it waits for a processor
    clock.is_asleep = True
    assert budget.is_over() and budget.charge() == 2.0


def test_what_the_grader_does_in_between_counts_for_nothing(clock: Clock) -> None:
    budget = begin(clock)
    clock.pass_by(0.5)
    budget.end()
    clock.pass_by(600.0, share=0.0)
    assert budget.left() == 1.5 and budget.waited() == 0.5
    budget.begin(clock)  # type: ignore[arg-type]
    assert not budget.is_over() and budget.charge() == pytest.approx(0.5)
    assert budget.until() == pytest.approx(clock.now + 1.5)


def test_a_machine_that_slept_is_charged_the_limit_at_most(clock: Clock) -> None:
    budget = begin(clock)
    clock.pass_by(3600.0, share=0.0)
    assert budget.charge() == 2.0


def test_who_computes_a_little_now_and_then_is_charged_for_the_rest(clock: Clock) -> None:
    budget = begin(clock)
    clock.pass_by(1.8, share=0.06)
    assert budget.charge() == pytest.approx(1.8 / LENIENCE)


def test_who_cannot_be_asked_any_more_has_computed_all_the_time(clock: Clock) -> None:
    budget = begin(clock)
    clock.pass_by(1.5, share=0.1)
    clock.used = None
    assert budget.charge() == 1.5 and budget.is_over()


def test_a_worker_in_place_of_another_is_counted_from_its_start(clock: Clock) -> None:
    budget = begin(clock)
    clock.pass_by(0.5)
    budget.end()
    other = Clock()
    other.used = 0.2
    budget.begin(other)  # type: ignore[arg-type]
    other.pass_by(0.3)
    clock.pass_by(0.3)
    assert budget.charge() == pytest.approx(0.8) and budget.pause() == pytest.approx(1.2)
