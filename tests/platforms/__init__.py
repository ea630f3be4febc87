"""Tests that run the real nbgrader, otter-grader and JupyterLab: `make test-platforms`."""
