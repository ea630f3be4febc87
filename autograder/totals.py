"""Sums a judgement up into a result: points are added once, exactly, and checked."""

import msgspec

from autograder import results
from autograder.assignment import Assignment
from autograder.intake import Submission
from autograder.plaintext import clean, clean_line
from autograder.results import Judgement, Result, Status


def make_result(
    assignment: Assignment,
    submission: Submission,
    digest: str,
    judgement: Judgement | str = "",
) -> Result:
    """Sum a judgement up; a text in its place says why there is none. Numbers are checked."""
    status: Status = "graded"
    reason = ""
    tests: list[results.TestResult] = []
    if submission.ungradable:
        status, reason = "ungradable", submission.ungradable
    elif isinstance(judgement, str):
        status, reason = "grader_error", clean(judgement)
    else:
        tests = [_clean_test(test) for test in judgement.tests]
        broken = [test for test in tests if test.verdict == "grader_error"]
        if broken:
            why = broken[0].staff_message or broken[0].message
            status, reason = "grader_error", clean(f"{broken[0].id} could not be judged: {why}")
    said = judgement if isinstance(judgement, Judgement) else Judgement(tests=[])
    maxima = {exercise.id: exercise.points for exercise in assignment.exercises}
    is_published = status == "graded"
    try:
        result = Result(
            assignment=assignment.id,
            student=submission.student,
            status=status,
            reason=reason,
            score=results.sum_points(test.points for test in tests) if is_published else None,
            max_score=assignment.points,
            exercises=results.score_exercises(maxima, tests, is_published=is_published),
            tests=tests,
            diagnosis=said.diagnosis,
            carried_forward=said.carried_forward,
            flags=said.flags,
            isolation=said.isolation,
            digest=digest,
        )
        results.check_sums(result)
    except ValueError as error:  # the tests' numbers are staff's: a fault of ours
        if isinstance(judgement, str):
            raise
        reason = f"the tests contradict the declaration: {error}"
        return make_result(assignment, submission, digest, reason)
    return result


def _clean_test(test: results.TestResult) -> results.TestResult:
    return msgspec.structs.replace(
        test,
        title=clean_line(test.title),
        message=clean(test.message),
        staff_message=clean(test.staff_message, 8000),
    )
