"""Takes from a submission what its feedback page shows as pictures.

An assignment may have `assignments/<id>/pictures.py`. It declares
`PICTURES = {exercise id: [functions]}`. Each function gets the `submission` as a test does
and returns one picture:

    {"title": "…", "caption": "what is to be seen, and how it should look",
     "rows": "position", "columns": "feature",  what one row and one column stand for
     "range": (-1.0, 1.0),                       the numbers from the one colour to the other
     "panels": [("", yours, expected), …]}       a title and two matrices each

`yours` is what the submission returned, in any form that holds a matrix. The inputs stand
in that file, in public: nothing hidden can be seen in a picture.

Pictures are no evidence. They are drawn when all has been judged and only where something
was wrong, in a worker that has run no test, within the time of one test each. Whatever goes
wrong, there is no picture, and nothing else changes.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from autograder.assignment import Assignment
from autograder.errors import BrokenAssignment
from autograder.pictures import HIGHEST, LOWEST, NO_NUMBER, Image, Panel, Picture

FILE = "pictures.py"
MAX_SIDE = 200  # rows or columns of an image
MAX_PANELS = 12
Draw = Callable[[Any], Mapping[str, Any]]


def load_pictures(assignment: Assignment) -> dict[str, list[Draw]]:
    """Return the functions that draw, by exercise; none when the assignment has no pictures.

    Raises:
        BrokenAssignment: pictures.py cannot be run, or declares something else.
    """
    path = assignment.public_dir / FILE
    if not path.is_file():
        return {}
    where = path.relative_to(assignment.root).as_posix()
    spec = importlib.util.spec_from_file_location(f"pictures_of_{assignment.id}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    checking = str(assignment.root / "assignments" / "checking")
    sys.path.insert(0, checking)  # what tests may import, pictures may, too
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise BrokenAssignment(f"{where} cannot be run: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(checking)
    declared = getattr(module, "PICTURES", None)
    known = {exercise.id for exercise in assignment.exercises}
    if not isinstance(declared, dict) or not set(declared) <= known:
        raise BrokenAssignment(
            f"{where} needs PICTURES = {{exercise: [functions]}}, with exercises of"
            f" assignment.toml: {', '.join(sorted(known))}."
        )
    return {exercise: list(functions) for exercise, functions in declared.items()}


def draw(exercise: str, functions: Sequence[Draw], submission: Any) -> list[Picture]:
    """Return the pictures that can be drawn of a submission. Raises nothing of the submission's.

    `submission` needs `begin_test` and `end_test`, which give each picture its time.
    """
    import torch

    pictures: list[Picture] = []
    for function in functions:
        submission.begin_test()
        try:
            with torch.no_grad():
                pictures.append(make_picture(exercise, function(submission)))
        except (KeyboardInterrupt, SystemExit):
            raise
        except Exception:
            continue
        except BaseException:  # the worker has come to an end: so have the pictures
            break
        finally:
            submission.end_test()
    return pictures


def make_picture(exercise: str, drawn: Mapping[str, Any]) -> Picture:
    """Return what a function of pictures.py has drawn in the form in which it is kept.

    Raises:
        ValueError, KeyError or TypeError: it is no picture, or too large a one.
    """
    low, high = map(float, drawn["range"])
    panels = [
        Panel(
            title=str(title),
            yours=make_image(yours, low, high),
            expected=make_image(expected, low, high),
        )
        for title, yours, expected in drawn["panels"]
    ]
    if not 1 <= len(panels) <= MAX_PANELS:
        raise ValueError(f"a picture has 1 to {MAX_PANELS} panels, not {len(panels)}")
    words = {name: str(drawn[name]) for name in ("title", "caption", "rows", "columns")}
    return Picture(exercise=exercise, low=low, high=high, panels=panels, **words)


def make_image(value: object, low: float, high: float) -> Image:
    """Return the matrix that `value` holds, each number as one of 255 levels.

    A tuple of tensors stands for its first; axes of length 1 are left out.

    Raises:
        ValueError or TypeError: it holds no matrix of a size that can be looked at.
    """
    import torch

    while isinstance(value, (tuple, list)) and value and hasattr(value[0], "shape"):
        value = value[0]
    matrix = torch.as_tensor(value).detach().to_dense()
    if matrix.dim() > 2:
        matrix = matrix.squeeze()
    if (
        matrix.is_complex()
        or matrix.dim() != 2
        or not 0 < min(matrix.shape) <= max(matrix.shape) <= MAX_SIDE
    ):
        raise ValueError(f"a picture of {matrix.dtype} and the shape {tuple(matrix.shape)}")
    matrix = matrix.double()
    known = torch.isfinite(matrix)
    share = ((matrix - low) / (high - low)).nan_to_num(0.0, 1.0, 0.0).clamp(0.0, 1.0)
    levels = ((share * (HIGHEST - LOWEST)).round() + LOWEST).where(known, NO_NUMBER)
    rows, columns = matrix.shape
    return Image(
        rows=rows, columns=columns, levels=bytes(levels.to(torch.uint8).flatten().tolist())
    )


def find_problems(assignment: Assignment) -> Iterator[str]:
    """Yield what is wrong with an assignment's pictures: the reference must look right in all.

    Raises:
        BrokenAssignment: pictures.py cannot be run, or declares something else.
    """
    from autograder.reference import load_reference

    declared = load_pictures(assignment)
    modules = load_reference(assignment) if declared else {}
    names = {
        n: getattr(modules[e.file], n) for e in assignment.exercises for n in e.names if modules
    }
    submission = SimpleNamespace(begin_test=lambda: None, end_test=lambda: None, **names)
    for exercise, functions in declared.items():
        for function in functions:
            name = f"{FILE}: {getattr(function, '__name__', function)}"
            drawn = draw(exercise, [function], submission)
            if not drawn:
                yield f"{name} draws nothing of the reference; call it by hand to see why."
            if any(panel.yours != panel.expected for picture in drawn for panel in picture.panels):
                yield f"{name} shows the reference beside something else as what is right."
