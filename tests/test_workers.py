"""May exercises share a worker without one costing points in another?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from autograder.remote import Setup, Submission
from autograder.student_errors import Stopped
from autograder.workers import Workers, speaks_of
from tests.conftest import Open

FAIR = "def f(): return 1"


def test_a_worker_is_kept_until_it_ends(open_submission: Open) -> None:
    template = open_submission(FAIR, "f")

    def set_up(stand_ins: object, spared: object) -> Setup:
        return template._setup

    with Workers(template._station, set_up) as workers:
        first, is_new = workers.get({})
        first.begin_test()
        assert is_new and first.f() == 1
        again, is_new = workers.get({})
        assert again is first and not is_new
        first.close()  # as when it has crashed
        other, is_new = workers.get({})
        other.begin_test()
        assert is_new and other is not first and other.f() == 1
    assert not other.is_alive()


def test_stand_ins_have_workers_of_their_own(open_submission: Open) -> None:
    template = open_submission(FAIR, "f")
    seen: list[Submission] = []
    with Workers(template._station, lambda *_: template._setup) as workers:
        for stand_ins in ({}, {"layer": {"keep": True}}, {"layer": {"keep": False}}):
            submission, is_new = workers.get(stand_ins)
            assert is_new
            seen.append(submission)
    assert len(set(map(id, seen))) == 3


def test_the_first_worker_is_spared_names_until_all_starts_over(
    open_submission: Open,
) -> None:
    source = """
import os
import torch.nn.functional as F
def own(x): return x + 1
def in_a_child(x):
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return x
def secretly(x):
    try:
        return F.softmax(x, -1)
    except BaseException:
        return x
"""
    softmax, names = "torch.nn.functional.softmax", ("own", "secretly", "in_a_child")
    template = open_submission(source, *names)

    def set_up(stand_ins: object, spared: Sequence[str]) -> Setup:
        submission = open_submission(source, *names, spared=spared)
        return submission._setup

    x = torch.ones(3)
    with Workers(template._station, set_up, [softmax]) as workers:
        submission, _ = workers.get({})
        submission.begin_test()
        with pytest.raises(Stopped):  # in a child, its end would not be seen
            submission.in_a_child(x)
        submission, _ = workers.get({})
        submission.begin_test()
        assert submission.is_spared and submission.own(1) == 2
        assert submission.without(softmax) is submission
        assert submission.without("torch.nn.Linear") is not submission
        assert submission.without() is not submission
        with pytest.raises(Stopped):  # and no student code can catch it
            submission.secretly(x)
        workers.start_over()
        submission, is_new = workers.get({})
        submission.begin_test()
        assert is_new and not submission.is_spared
        assert torch.equal(submission.in_a_child(x), x)
        assert torch.equal(submission.secretly(x), torch.full((3,), 1 / 3))
        variant = submission.without(softmax)
        assert variant is not submission and torch.equal(variant.secretly(x), x)


def test_who_was_misled_is_still_spared_but_makes_nothing_later(open_submission: Open) -> None:
    template = open_submission(FAIR, "f")

    def set_up(stand_ins: object, spared: Sequence[str]) -> Setup:
        return open_submission(FAIR, "f", spared=spared)._setup

    with Workers(template._station, set_up, ["torch.nn.Linear"]) as workers:
        states = []
        for is_misled in (True, False, False):
            submission, is_new = workers.get({})
            states.append((submission.makes_later, submission.is_spared, is_new))
            submission.is_misled = is_misled
            workers.start_over()
    assert states == [(True, True, True), (False, True, True), (False, False, True)]


def test_workers_with_stand_ins_are_spared_nothing(open_submission: Open) -> None:
    template = open_submission(FAIR, "f")
    seen: list[Sequence[str]] = []

    def set_up(stand_ins: object, spared: Sequence[str]) -> Setup:
        seen.append(spared)
        return template._setup

    with Workers(template._station, set_up, ["torch.nn.Linear"]) as workers:
        for stand_ins in ({"layer": {"keep": True}}, {}):
            workers.get(stand_ins)
    assert seen == [(), ["torch.nn.Linear"]]


@pytest.mark.parametrize(
    ("code", "speaks"),
    [
        ("y = F.attention(q)", True),
        ("from torch.nn.functional import attention as a", True),
        ("import torch.attention.more", True),
        ("y = getattr(F, 'attention')(q)", True),
        ("attention = None", True),
        ("y = F.softmax(q)  # not attention", False),
        ('"""Of attention."""\nx = 1', False),
        ("def attention(", False),
        ("x = '\x00'attention", False),
    ],
)
def test_what_code_speaks_of(code: str, speaks: bool) -> None:
    assert speaks_of(["x = 1", code], {"attention"}) is speaks
