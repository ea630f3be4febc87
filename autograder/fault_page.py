"""The instructor's table: what each known mistake costs, and which tests charge it."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.assignment import Assignment
from autograder.faults import load_dictionaries
from autograder.proof import Proof
from autograder.results import Judgement, Result, format_points, sum_points

HEAD = """# What mistakes cost: {title}

Built by `make verify A={id} ARGS=--accept`; do not edit. Each row is a program with this one
mistake and no other, tried on the graded tests. A mistake is charged by the test about its
mechanism and by the one about the whole answer; other tests that it makes fail are not charged
again. Gross ones (marked *) leave out several steps, and every test about one of these charges.
"""


def render_fault_page(
    assignment: Assignment, proofs: Sequence[Proof], reference: Judgement | Result
) -> str:
    """The page, as Markdown."""
    points = {test.id: test.max_points for test in reference.tests}
    dictionaries = load_dictionaries(assignment.solution_dir)
    lines = [HEAD.format(title=assignment.title, id=assignment.id)]
    for proof in proofs:
        exercise = assignment.exercise(proof.exercise)
        dictionary = dictionaries[proof.exercise]
        lines += [f"\n## {exercise.title}: {format_points(exercise.points)} points\n"]
        lines += ["| mistake | id | costs | charged by |", "|---|---|---|---|"]
        for fault in dictionary.faults().values():
            tests = proof.charged.get(fault.id, [])
            cost = format_points(sum_points(points[test] for test in tests))
            names = ", ".join(f"`{test.partition('::')[2]}`" for test in tests)
            star = "*" if fault.id in dictionary.gross else ""
            sentence = fault.sentence.replace("|", "\\|")
            lines.append(f"| {sentence} | `{fault.id}`{star} | {cost} | {names} |")
    return "\n".join(lines) + "\n"
