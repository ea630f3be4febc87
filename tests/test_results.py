"""The result: exact, strict, the same bytes for the same input."""

import pickle
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import results
from autograder.results import InvalidResult, Judgement, Result, TestResult, exact


def make_test(name: str = "scale", **changes) -> TestResult:
    fields = {
        "id": f"layer::test_{name}",
        "exercise": "layer",
        "title": "Scores are scaled",
        "visibility": "hidden",
        "verdict": "passed",
        "points": "2.5",
        "max_points": "2.5",
    }
    return TestResult(**(fields | changes))


def make_result(tests: list[TestResult] | None = None, **changes) -> Result:
    tests = (
        [make_test(), make_test("heads", verdict="failed", points="0")] if tests is None else tests
    )
    fields = {
        "assignment": "demo",
        "student": "ada",
        "status": "graded",
        "reason": "",
        "score": results.sum_points(t.points for t in tests),
        "max_score": results.sum_points(t.max_points for t in tests),
        "exercises": results.score_exercises(
            {"layer": results.sum_points(t.max_points for t in tests)}, tests, is_published=True
        ),
        "tests": tests,
        "diagnosis": [],
        "carried_forward": [],
        "flags": [],
        "isolation": "full",
        "digest": "d",
    }
    return Result(**(fields | changes))


def test_a_result_survives_the_way_to_disk_and_back():
    assert results.decode(results.encode(make_result())) == make_result()


def test_keys_keep_the_order_of_the_contract():
    text = results.encode(make_result()).decode()
    keys = [line.split('"')[1] for line in text.splitlines() if line.startswith('  "')]
    assert (
        keys
        == (
            "schema_version assignment student status reason score max_score exercises tests"
            " diagnosis carried_forward flags isolation digest"
        ).split()
    )
    assert text.endswith("}\n")


def test_points_are_strings_without_residue():
    tests = [make_test(str(n), points="0.1", max_points="0.10") for n in range(3)]
    text = results.encode(make_result(tests)).decode()
    assert '"score": "0.3"' in text
    assert '"max_points": "0.1"' in text


def test_a_score_that_is_not_published_is_null():
    broken = [make_test(verdict="grader_error", points="0")]
    exercises = results.score_exercises({"layer": exact("2.5")}, broken, is_published=False)
    result = make_result(broken, status="grader_error", score=None, exercises=exercises)
    assert b'"score": null' in results.encode(result)
    assert results.decode(results.encode(result)) == result


@pytest.mark.parametrize("wrong", ["nan", "inf", "-1", "", "two", 0.5, True, None, "1e99"])
def test_points_that_are_no_exact_number_are_refused(wrong):
    with pytest.raises(ValueError, match="points are"):
        exact(wrong)


@given(st.decimals(min_value=0, max_value=10**6, places=4))
def test_exact_points_keep_their_value_and_have_one_form(number):
    assert exact(number) == number
    assert exact(str(exact(number))).as_tuple() == exact(number).as_tuple()
    assert "E" not in results.format_points(number)


@given(st.text())
def test_any_text_can_be_written(text):
    surrogate = make_result([make_test(message=text + "\ud800")])
    again = results.decode(results.encode(surrogate))
    assert again.tests[0].message == text + "?"


@pytest.mark.parametrize("verdict", [v for v in results.VERDICTS if v != "passed"])
def test_only_a_passed_test_has_points(verdict):
    with pytest.raises(ValueError, match="points for a test"):
        make_test(verdict=verdict)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"score": "2.5"', '"score": "5"'),  # sums
        ('"max_score": "5"', '"max_score": "6"'),
        ('"verdict": "failed"', '"verdict": "fine"'),
        ('"verdict": "failed"', '"verdict": "grader_error"'),  # graded all the same
        ('"status": "graded"', '"status": "ungradable"'),  # a score all the same
        ('"digest"', '"digets"'),  # unknown key
        ('"schema_version": 1', '"schema_version": 2'),
        ('"flags": []', '"flags": [1]'),
        ('"exercise": "layer"', '"exercise": "block"'),
    ],
)
def test_a_result_that_contradicts_itself_is_refused(old, new):
    text = results.encode(make_result()).decode()
    assert old in text
    with pytest.raises(InvalidResult):
        results.decode(text.replace(old, new).encode())


@pytest.mark.parametrize("data", [b"", b"{}", b"[1]", b"\xff\xfe", b'{"schema_version": 1'])
def test_bytes_that_are_no_result_are_refused(data):
    with pytest.raises(InvalidResult):
        results.decode(data)


def test_half_a_file_is_refused():
    data = results.encode(make_result())
    for cut in range(0, len(data) - 2, 97):
        with pytest.raises(InvalidResult):
            results.decode(data[:cut])


def test_a_judgement_can_be_sent_to_another_process():
    judgement = Judgement(tests=[make_test()], isolation="full")
    assert pickle.loads(pickle.dumps(judgement)) == judgement


def test_exercises_are_summed_in_their_own_order():
    tests = [make_test(), make_test("x", exercise="block", points="1", max_points="1")]
    maxima = {"block": Decimal(1), "layer": Decimal("2.5")}
    scored = results.score_exercises(maxima, tests, is_published=True)
    assert [(e.id, e.score) for e in scored] == [("block", 1), ("layer", Decimal("2.5"))]
