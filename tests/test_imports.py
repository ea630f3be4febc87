"""Who may import, print and spawn: the shape of the engine, held by reading its source."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import autograder

ENGINE = Path(autograder.__file__).parent
MODULES = sorted(ENGINE.rglob("*.py"))
PRINTING = {"cli", "terminal"}
SPAWNING = {"sandbox", "pool"}
LAZY = {
    "nbgrader",
    "otter",
    "jupytext",
    "nbformat",
    "matplotlib",
    "dask",
    "distributed",
    "watchfiles",
}
LIGHT = set(
    "cli terminal grading digest storage gallery intake report export results assignment errors"
    " plaintext totals pictures lookalikes sheet names roster lateness late_students regrading"
    " changes cells".split()
)


def get_name(path: Path) -> str:
    """Return a module's name within the engine: "intake.disk", "cli"."""
    parts = path.relative_to(ENGINE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def get_part(path: Path) -> str:
    return get_name(path).split(".")[0]


def list_imports(path: Path, *, at_start_only: bool = False) -> Iterator[str]:
    """Yield the full names that a module imports; `at_start_only` skips those inside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes: list[ast.AST] = [tree]
    while nodes:
        node = nodes.pop()
        if at_start_only and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes += node.orelse
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if node.level:
                base = path.relative_to(ENGINE.parent).with_suffix("").parts
                base = base[: len(base) - node.level]
                module = ".".join([*base, module]).rstrip(".")
            yield from (f"{module}.{alias.name}" for alias in node.names)
        nodes += ast.iter_child_nodes(node)


def list_calls(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


def select(*parts: str) -> list[Path]:
    return [path for path in MODULES if get_part(path) in parts]


def list_ours(path: Path) -> set[str]:
    """Return the parts of the engine that a module imports."""
    ours = {name.split(".")[1] for name in list_imports(path) if name.startswith("autograder.")}
    return ours - {"__version__"}


@pytest.mark.parametrize("path", MODULES, ids=get_name)
def test_only_the_command_line_prints(path):
    printing = {"print", "click.echo", "sys.stdout.write", "sys.stderr.write"}
    if get_part(path) not in PRINTING:
        assert not printing & list_calls(path)
        assert not {name for name in list_imports(path) if name.split(".")[0] in ("rich", "click")}


@pytest.mark.parametrize("path", MODULES, ids=get_name)
def test_only_the_sandbox_spawns(path):
    if get_part(path) in {*SPAWNING, "worker"}:
        return
    spawning = {"subprocess", "multiprocessing", "pty", "pexpect"}
    assert not {name for name in list_imports(path) if name.split(".")[0] in spawning}
    calls = list_calls(path)
    forbidden = ("os.fork", "os.exec", "os.spawn", "os.posix_spawn", "os.system", "os.popen")
    assert not [call for call in calls if call.startswith(forbidden)]


@pytest.mark.parametrize("path", select("worker"), ids=get_name)
def test_beside_a_student_there_is_only_worker_and_protocol(path):
    for name in list_imports(path):
        top, *rest = name.split(".")
        if top == "autograder":
            assert rest[0] in ("worker", "protocol"), name
        else:
            assert top in sys.stdlib_module_names or top in ("numpy", "torch"), name


@pytest.mark.parametrize("path", select("protocol"), ids=get_name)
def test_the_protocol_knows_nothing_else_of_ours(path):
    for name in list_imports(path):
        top = name.split(".")[0]
        assert top in sys.stdlib_module_names or top in ("numpy", "torch"), name


def test_results_import_nothing_of_ours():
    (path,) = select("results")
    assert list_ours(path) == set()


@pytest.mark.parametrize("path", select("report", "export"), ids=get_name)
def test_reports_read_results_and_never_grade(path):
    data = {"results", "pictures", "lookalikes", "cells"}  # that others have made
    if get_part(path) == "export":  # knows who is in the class, and how late they were
        data |= {"sheet", "names", "roster", "lateness", "late_students"}
    assert list_ours(path) <= {"report", "export", "assignment", "plaintext", "errors", *data}


@pytest.mark.parametrize("path", select(*LIGHT), ids=get_name)
def test_light_modules_import_nothing_heavy_at_the_start(path):
    heavy = {"torch", "numpy", "pytest"}
    for name in list_imports(path, at_start_only=True):
        top, *rest = name.split(".")
        assert top not in heavy, name
        assert top != "autograder" or not rest or rest[0] in LIGHT | {"__version__"}, name


@pytest.mark.parametrize("path", MODULES, ids=get_name)
def test_slow_packages_are_imported_where_they_are_used(path):
    loaded_by = {path.stem} if get_part(path) == "platforms" else set()
    for name in list_imports(path, at_start_only=True):
        assert name.split(".")[0] not in LAZY - loaded_by, name


@pytest.mark.parametrize("path", MODULES, ids=get_name)
def test_what_runs_in_a_platform_is_loaded_by_it_alone(path):
    if get_part(path) not in ("platforms", "cli"):
        assert not [name for name in list_imports(path) if name.startswith("autograder.platforms")]


@pytest.mark.parametrize("path", MODULES, ids=get_name)
def test_pickle_is_nowhere(path):
    assert not {name for name in list_imports(path) if name.split(".")[0] in ("pickle", "marshal")}


def test_the_rules_are_about_something():
    assert select("worker")
    assert select("report")
    assert "torch" in {name.split(".")[0] for path in MODULES for name in list_imports(path)}
