"""otter-grader: `otter run` and its Gradescope zip with verdicts from the sandbox.

A plugin in the sense of otter's plugin interface, named in the master notebook's configuration:

    plugins:
      - autograder.platforms.otter.Sandbox

No cell of the student's is executed and nothing that came with the notebook is loaded. Otter runs
its tests on an empty notebook, and what they say is replaced.
"""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

from otter.plugins import AbstractOtterPlugin
from otter.test_files.abstract_test import TestCaseResult

from autograder.errors import KitError
from autograder.platforms.judging import judge_notebook, read_declared, say
from autograder.results import Result, TestResult


class Sandbox(AbstractOtterPlugin):  # type: ignore[misc]
    """Judges the submission in the sandbox; `isolation` may demand a level.

    plugin_config: `assignment`, an id, where it is not the name of the notebook that was handed
    in; `isolation`, the weakest to accept.
    """

    def __init__(self, submission_path: str, submission_metadata: Any, plugin_config: Any) -> None:
        super().__init__(submission_path, submission_metadata, plugin_config or {})
        self._result: Result | None = None

    def during_assign(self, assignment: Any) -> None:
        """Nothing to do: otter assign calls this for every plugin that is named."""

    def during_generate(self, otter_config: dict[str, Any], assignment: Any) -> None:
        """Write the assignment's name into the configuration that grading reads."""
        if assignment is None:
            return
        own = f"{type(self).__module__}.{type(self).__qualname__}"
        settings = {"assignment": assignment.master.stem, **self.plugin_config}
        otter_config["plugins"] = [
            {own: settings}
            if own in (named, *(named if isinstance(named, dict) else ()))
            else named
            for named in otter_config.get("plugins", [])
        ]

    def before_grading(self, config: Any) -> None:
        """Leave nothing beside the notebook but what grading has put there itself."""
        notebook = Path(self.submission_path)
        source = notebook.parent.parent / "source"
        for path in notebook.parent.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path != notebook:
                path.unlink()
        for path in [source / "tests", *source.glob("files/*")]:
            (shutil.copytree if path.is_dir() else shutil.copy)(path, notebook.parent / path.name)

    def before_execution(self, submission: Any) -> Any:
        """Judge the notebook; give otter an empty one to execute."""
        assignment = read_declared(
            self.plugin_config.get("assignment") or Path(self.submission_path).stem
        )
        content = json.dumps(submission).encode()
        least = self.plugin_config.get("isolation", "")
        self._result = judge_notebook(assignment, "the submission", content, least=least)
        empty = copy.deepcopy(submission)
        empty["cells"] = []
        empty["metadata"] = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        return empty

    def after_grading(self, results: Any) -> None:
        """Put the sandbox's verdicts in the place of otter's, test case by test case."""
        assert self._result is not None
        verdicts = self._result.tests
        if results.has_catastrophic_failure():
            raise KitError(f"otter's own run has failed: {results.catastrophic_error}")
        if set(results.results) != {test.exercise for test in verdicts}:
            raise KitError(f"the questions are not the exercises of {self._result.assignment}.")
        for name, question in results.results.items():
            mine = [test for test in verdicts if test.exercise == name]
            if not _fits(question, mine):
                raise KitError(
                    f"the test cases of {name} are not those of {self._result.assignment} as it"
                    " is now: run otter assign anew."
                )
            question.test_case_results = [
                TestCaseResult(case, "\n".join(say(test, self._result)), test.verdict == "passed")
                for case, test in zip(question.test_cases, mine, strict=True)
            ]
        results.set_plugin_data(
            "autograder", {"isolation": self._result.isolation, "digest": self._result.digest}
        )


def _fits(question: Any, tests: list[TestResult]) -> bool:
    found = [(case.points, case.hidden) for case in question.test_cases]
    return found == [(float(test.max_points), test.visibility == "hidden") for test in tests]
