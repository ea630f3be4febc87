"""Does the warm pytest session depend on nothing but the assignment?"""

from __future__ import annotations

import pytest

from autograder.assignment import load
from autograder.session import Session


@pytest.mark.parametrize("name", ["PYTEST_ADDOPTS", "PYTEST_PLUGINS"])
def test_what_the_shell_says_to_pytest_is_not_meant_for_graded_tests(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "--no_such_thing")
    session = Session(load("attention"))
    try:
        assert sum(test.points for test in session.tests) == 100
    finally:
        session.close()


def test_plugins_that_happen_to_be_installed_take_no_part() -> None:
    session = Session(load("attention"))
    try:
        plugins = session.tests[0].item.config.pluginmanager.list_name_plugin()
        assert not [name for name, _ in plugins if "xdist" in name or "hypothesis" in name]
    finally:
        session.close()
