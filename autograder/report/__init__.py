"""Renders results for people: feedback for students, tables and a page for staff.

Everything here reads results and what the assignment declares. Nothing is graded, and
nothing that is rendered for a student is given a `staff_message` to begin with.
"""

from autograder.report.feedback import Feedback, make_feedback
from autograder.report.grades import Row, render_grades
from autograder.report.overview import ClassFacts, render_overview
from autograder.report.pages import render_feedback_html, render_feedback_md

__all__ = [
    "ClassFacts",
    "Feedback",
    "Row",
    "make_feedback",
    "render_feedback_html",
    "render_feedback_md",
    "render_grades",
    "render_overview",
]
