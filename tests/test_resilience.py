"""Does a run survive what a night can bring? `make soak` in small."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from soak import classes, disks, endurance, fuzz, interrupts, running
from soak.kills import Kills, Victim

from autograder import assignment as assignments
from autograder.assignment import Assignment

SIZE = 8

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="it watches /proc")


@pytest.fixture(scope="module")
def attention() -> Assignment:
    return assignments.load("attention")


@pytest.fixture(scope="module")
def undisturbed(attention: Assignment, tmp_path_factory: pytest.TempPathFactory) -> Kills:
    """A class of right, wrong and hostile submissions, graded once while it is watched."""
    folder = tmp_path_factory.mktemp("undisturbed")
    source = classes.write_class(attention, SIZE, folder / "class")
    trial = Kills(source, folder)
    hostile = attention.gallery_dir / "hostile"
    trial.watched = endurance.run(source, folder, hostile, look_seconds=0.02)
    trial.expect(folder / "long", trial.watched.first_seconds, trial.watched.seconds)
    return trial


def test_a_run_leaves_nothing_behind_and_holds_no_more_at_its_end(undisturbed: Kills) -> None:
    undisturbed.watched.judge(endurance.TABLES)
    assert undisturbed.watched.problems == []


@pytest.mark.parametrize("targets", ["grader", "zygote judge worker"])
def test_kill_9_loses_nothing(undisturbed: Kills, targets: str) -> None:
    """Also in the middle of the first submissions, before anything has been written."""
    draw = random.Random(targets)
    victims = [
        Victim(name, moment, draw.uniform(0.2, 0.9))
        for name, moment in zip(targets.split(), (SIZE // 3, SIZE // 3, SIZE // 2), strict=False)
    ]
    undisturbed.kill(victims, draw)
    assert victims[0].problems == []
    assert all(victim.is_killed for victim in victims)


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_a_run_in_order_and_twice_at_once(
    undisturbed: Kills, tmp_path: Path, times: int
) -> None:
    assert interrupts.check(undisturbed.source, tmp_path, undisturbed.expected, times) == []


def test_who_cannot_be_written_costs_nobody_else_anything(
    undisturbed: Kills, tmp_path: Path
) -> None:
    assert disks.check_blocked(undisturbed.source, tmp_path, undisturbed.expected) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a small disk")
def test_a_full_disk_is_said_and_what_is_there_is_whole(undisturbed: Kills, tmp_path: Path) -> None:
    assert disks.check_full(undisturbed.source, tmp_path, undisturbed.expected) == []


def test_an_enemy_at_the_link_gets_verdicts_and_no_memory(attention: Assignment) -> None:
    found = fuzz.attack_judge(attention, seconds=5)
    assert found.problems == []
    assert found.replies > 50


def test_the_plan_of_kills_is_as_long_as_asked() -> None:
    from soak.kills import plan

    runs = list(plan(25, 40, random.Random(0)))
    named = [victim.target for victims in runs for victim in victims]
    assert len(named) >= 25 and {"grader", "zygote", "worker", "judge"} == set(named)


def test_halves_and_differences_are_seen(tmp_path: Path) -> None:
    """What the runs above hope to find nothing of, is found where there is some."""
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada/result.json").write_text('{"schema_version": 1,')
    (tmp_path / "ada/.feedback.md.partial").write_text("")
    assert len(running.list_halves(tmp_path)) == 3
    assert len(running.list_partials(tmp_path)) == 1
    assert running.list_differences({"a": b"1", "b": b"2"}, {"a": b"1", "b": b"3"}) == ["b"]
