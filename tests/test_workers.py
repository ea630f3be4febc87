"""May exercises share a worker without one costing points in another?"""

from __future__ import annotations

from autograder.remote import Setup, Submission
from autograder.workers import Workers
from tests.conftest import Open

FAIR = "def f(): return 1"


def test_a_worker_is_kept_until_it_ends(open_submission: Open) -> None:
    template = open_submission(FAIR, "f")

    def set_up(stand_ins: object) -> Setup:
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
    with Workers(template._station, lambda _: template._setup) as workers:
        for stand_ins in ({}, {"layer": {"keep": True}}, {"layer": {"keep": False}}):
            submission, is_new = workers.get(stand_ins)
            assert is_new
            seen.append(submission)
    assert len(set(map(id, seen))) == 3
