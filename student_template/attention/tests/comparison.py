"""How a graded test looks at what a student's code returned.

A student's function may return anything. `require_form` is strict and belongs in the one
test about form; everything else goes through `tensor_of`, which looks through a slip of
form that has already been charged: a tuple, a NumPy array, another float type, an axis of
length 1 too many. Whatever comes, nothing but `AssertionError` is raised.
"""

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

ROUNDING = 1e-7
"""What float32 makes of a number of size 1."""


class Measurement(NamedTuple):
    """One judgement by a number: `error > tolerance` fails.

    Where something has to be there, the error is what was asked for, the tolerance what was found.
    """

    error: float
    tolerance: float
    bound: str  # the number in the test that decided
    rounding: float = 0.0  # an error that this comparison can always have
    spared: float = 0.0  # what a mistake may do that another test charges


measured: list[Measurement] = []
"""Every judgement by a number so far; the bounds of the tests are calibrated with it."""


def tensor_of(result: object, shape: tuple[int, ...], what: str = "the output") -> Tensor:
    """Return the float32 tensor of that shape that `result` is, or holds in another form.

    Raises:
        AssertionError: `result` holds no such tensor; the message says what came instead.
    """
    tensor = first_tensor(result, what)
    require_numbers(tensor, what)
    tensor = tensor.to(torch.float32)
    if tensor.shape != torch.Size(shape):
        if tuple(n for n in tensor.shape if n != 1) != tuple(n for n in shape if n != 1):
            raise AssertionError(
                f"{what} has the shape {tuple(tensor.shape)}; expected {tuple(shape)}"
            )
        tensor = tensor.reshape(shape)
    return tensor


def first_tensor(result: object, what: str = "the output") -> Tensor:
    """Return `result` as a tensor: itself, a NumPy array's, or the first one in a tuple or list."""
    if isinstance(result, Tensor):
        return result
    if isinstance(result, np.ndarray):
        require(result.dtype.kind in "fiubc", f"{what} is a NumPy array of {result.dtype}")
        return torch.from_numpy(np.ascontiguousarray(result))
    if isinstance(result, (tuple, list)):
        for part in result:
            if isinstance(part, (Tensor, np.ndarray)):
                return first_tensor(part, what)
    raise AssertionError(f"{what} is {describe(result)}; expected a tensor")


def require_module(value: object, what: str) -> None:
    """Check that a student's class makes something that can be called and given weights."""
    is_module = callable(value) and callable(getattr(value, "load_state_dict", None))
    require(is_module, f"{what} makes {describe(value)}; expected an nn.Module")


def require_form(result: object, shape: tuple[int, ...], what: str = "the output") -> None:
    """Check that `result` is one float32 tensor of that shape, and nothing around it."""
    require(isinstance(result, Tensor), f"{what} is {describe(result)}; expected one tensor")
    assert isinstance(result, Tensor)
    require(
        result.dtype == torch.float32,
        f"{what} has the dtype {str(result.dtype).removeprefix('torch.')}; expected float32",
    )
    require(result.layout == torch.strided, f"{what} is sparse; expected an ordinary tensor")
    require(
        result.shape == torch.Size(shape),
        f"{what} has the shape {tuple(result.shape)}; expected {tuple(shape)}",
    )


def require_numbers(tensor: Tensor, what: str = "the output") -> None:
    """Check that a tensor can be computed with: dense and real."""
    require(tensor.layout == torch.strided, f"{what} is sparse; expected an ordinary tensor")
    require(
        tensor.dtype.is_floating_point,
        f"{what} has the dtype {str(tensor.dtype).removeprefix('torch.')}; expected float32",
    )


def require_finite(tensor: Tensor, what: str = "the output") -> None:
    """Check that no entry is infinite or not a number."""
    bad = int((~torch.isfinite(tensor.detach())).sum())
    require(bad == 0, f"{what} has {bad} entries that are not finite numbers (inf or nan)")


def require_close(
    result: object,
    expected: Tensor,
    tolerance: float,
    what: str = "the output",
    spared: float = 0.0,
) -> None:
    """Check values: the largest error must not exceed `tolerance`.

    The message gives the first place that is off, what is there and what belongs there.
    `spared` is an error that must pass, since a mistake that another test charges causes it.
    """
    got = tensor_of(result, tuple(expected.shape), what)
    require_finite(got, what)
    error = distance(got, expected)
    size = float(expected.detach().abs().max()) if expected.numel() else 0.0
    if is_small(error, tolerance, ROUNDING * size, spared):
        return
    gaps = (got.detach().double() - expected.detach().double()).abs()
    place = tuple(int(n) for n in (~(gaps <= tolerance)).nonzero()[0])  # not a number is off too
    raise AssertionError(
        f"{what} is off by up to {error:.3g} (allowed: {tolerance:.0e}). The first difference is "
        f"at {list(place)}: {float(got[place]):.4f}; expected {float(expected[place]):.4f}"
    )


def require_small(
    error: float, tolerance: float, message: str, size: float = 1.0, spared: float = 0.0
) -> None:
    """Check an error that a test has worked out itself, of numbers of that `size`."""
    require(is_small(error, tolerance, ROUNDING * size, spared), message)


def require_large(value: float, least: float, message: str, spared: float = math.inf) -> None:
    """Check that something is there: `value`, which is next to nothing when it is not.

    `spared` is a value that must pass, since a mistake that another test charges causes it.
    """
    require(is_large(value, least, spared), message)


def is_small(error: float, tolerance: float, rounding: float = ROUNDING, spared: float = 0) -> bool:
    """Say whether an error is small enough, and remember it for calibration."""
    error = math.inf if math.isnan(error) else error
    measured.append(Measurement(error, tolerance, f"<= {tolerance:g}", rounding, spared))
    return error <= tolerance


def is_large(value: float, least: float, spared: float = math.inf) -> bool:
    """Say whether something is there, and remember it for calibration."""
    value = 1e-30 if math.isnan(value) or value <= 0 else value
    measured.append(Measurement(least, value, f">= {least:g}", 0.0, least * value / spared))
    return value >= least


def distance(got: Tensor, expected: Tensor) -> float:
    """Return the largest absolute difference; infinity when any of it is not a number."""
    if got.numel() == 0:
        return 0.0
    error = float((got.detach().double() - expected.detach().double()).abs().max())
    return math.inf if math.isnan(error) else error


def require(condition: bool, message: str) -> None:
    """Raise `AssertionError(message)` unless `condition`: an `assert` that pytest leaves alone."""
    if not condition:
        raise AssertionError(message)


def describe(result: object) -> str:
    """Say in a student's words what kind of thing came back."""
    if result is None:
        return "None (is a `return` missing?)"
    if isinstance(result, Tensor):
        return f"a tensor of shape {tuple(result.shape)}"
    if isinstance(result, np.ndarray):
        return f"a NumPy array of shape {result.shape}"
    if isinstance(result, (tuple, list)):
        return f"a {type(result).__name__} of {len(result)} things"
    if isinstance(result, (bool, int, float, str)):
        return f"the {type(result).__name__} {str(result)[:40]!r}"
    return f"a {getattr(result, 'type_name', type(result).__name__)}"
