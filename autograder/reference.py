"""The reference solution as the grader uses it: stubs to stand in, and right values to supply."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType
from typing import Any

from autograder.assignment import Assignment
from autograder.errors import KitError


def load_reference(assignment: Assignment) -> dict[str, ModuleType]:
    """The reference's modules by file name. They may import each other by their plain names."""
    modules: dict[str, ModuleType] = {}
    before = {name: sys.modules.get(name) for name in _module_names(assignment)}
    sys.path.insert(0, str(assignment.solution_dir))
    try:
        for exercise in assignment.exercises:
            name = exercise.file.removesuffix(".py")
            path = assignment.solution_dir / exercise.file
            spec = importlib.util.spec_from_file_location(name, path)
            if spec is None or spec.loader is None:
                raise KitError(f"{path} cannot be read.")
            module = sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            modules[exercise.file] = module
    finally:
        sys.path.remove(str(assignment.solution_dir))
        for name, module_before in before.items():
            if module_before is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module_before
    return modules


def _module_names(assignment: Assignment) -> list[str]:
    return [exercise.file.removesuffix(".py") for exercise in assignment.exercises]


def cut_stubs(assignment: Assignment) -> dict[str, str]:
    """The handed-out stub of every exercise file."""
    from autograder.template import build_stubs

    return build_stubs(assignment)


class Supply:
    """Computes what a stand-in asks for: a function's value, or a method's on a rebuilt object."""

    def __init__(self, assignment: Assignment) -> None:
        self.assignment = assignment
        self._owners: dict[str, Any] = {}

    def __call__(
        self, path: str, made_with: Any, state: dict[str, Any], args: Any, kwargs: Any
    ) -> Any:
        """`path` is a name in some exercise's `student_writes`.

        Raises:
            ValueError: nothing of that name is supplied, or it cannot take these values.
        """
        if not self._owners:
            modules = load_reference(self.assignment)
            for exercise in self.assignment.exercises:
                for written in exercise.student_writes:
                    self._owners[written] = modules[exercise.file]
        if path not in self._owners:
            raise ValueError(f"{path} is not supplied")
        class_name, _, method = path.rpartition(".")
        if not class_name:
            return getattr(self._owners[path], path)(*args, **kwargs)
        import torch

        positional, named = made_with
        instance = getattr(self._owners[path], class_name)(*positional, **named)
        return torch.func.functional_call(instance, dict(state), args, kwargs)
