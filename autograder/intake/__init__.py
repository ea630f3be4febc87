"""Where submissions come from: folders, archives, files, notebooks, and what an LMS exports.

Only files that the assignment names are taken. Nothing is unpacked to disk, no
symbolic link is followed, and no code of a student is run here.
"""

from autograder.intake.classes import find_submissions
from autograder.intake.submission import Intake, LeftOut, Submission

__all__ = ["Intake", "LeftOut", "Submission", "find_submissions"]
