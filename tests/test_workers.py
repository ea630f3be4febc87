"""May exercises share a worker without one costing points in another?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from autograder.remote import Setup, Submission
from autograder.student_errors import Stopped
from autograder.worker.box import IN_NEED
from autograder.workers import Workers
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


def test_workers_are_spared_names_until_one_of_them_is_used(open_submission: Open) -> None:
    source = """
import torch.nn.functional as F
def own(x): return x + 1
def secretly(x):
    try:
        return F.softmax(x, -1)
    except BaseException:
        return x
"""
    softmax = "torch.nn.functional.softmax"
    template = open_submission(source, "own", "secretly")

    def set_up(stand_ins: object, spared: Sequence[str]) -> Setup:
        submission = open_submission(source, "own", "secretly", spared=spared)
        return submission._setup

    x = torch.ones(3)
    with Workers(template._station, set_up, [softmax]) as workers:
        submission, _ = workers.get({})
        submission.begin_test()
        assert submission.own(1) == 2 and submission.without(softmax) is submission
        assert submission.without("torch.nn.Linear") is not submission
        assert not workers.meet(submission) and workers.get({}) == (submission, False)
        with pytest.raises(Stopped):  # and no student code can catch it
            submission.secretly(x)
        assert workers.meet(submission)
        submission, is_new = workers.get({})
        submission.begin_test()
        assert is_new and torch.equal(submission.secretly(x), torch.full((3,), 1 / 3))
        variant = submission.without(softmax)
        assert variant is not submission and torch.equal(variant.secretly(x), x)


def test_an_exit_code_of_its_own_choice_helps_nobody(open_submission: Open) -> None:
    source = f"import os\ndef f(): os._exit({IN_NEED})"
    submission = open_submission(source, "f")
    with pytest.raises(Stopped):
        submission.f()
    assert not submission.is_in_need
