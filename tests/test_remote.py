"""Do proxies behave like the modules and functions they stand for?"""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograder.protocol import Opaque
from autograder.proxies import Unpacker
from autograder.remote import Submission
from autograder.student_errors import MissingName, Stopped, StudentError
from tests.conftest import Open

LAYER = """
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.register_buffer("scale", torch.tensor(2.0))
        self.frozen = nn.Parameter(torch.ones(3), requires_grad=False)
    def forward(self, x):
        return torch.tanh(self.inner(x)) * self.scale + (0 if self.training else 1)
"""


def local_layer(width: int) -> nn.Module:
    namespace: dict[str, type[nn.Module]] = {}
    exec(LAYER, namespace)
    return namespace["Layer"](width)


def test_a_remote_module_computes_what_the_local_one_computes(open_submission: Open) -> None:
    remote, local = open_submission(LAYER, "Layer").Layer(4), local_layer(4)
    remote.load_state_dict(local.state_dict())
    x = torch.randn(2, 3, 4)
    torch.testing.assert_close(remote(x), local(x), rtol=0, atol=0)
    torch.testing.assert_close(remote.eval()(x), local.eval()(x), rtol=0, atol=0)
    torch.testing.assert_close(
        remote.train().double()(x.double()), local.train().double()(x.double())
    )


def test_state_crosses_in_both_directions(open_submission: Open) -> None:
    remote, local = open_submission(LAYER, "Layer").Layer(4), local_layer(4)
    remote.load_state_dict(local.state_dict())
    state = remote.state_dict()
    assert list(state) == list(local.state_dict())
    assert all(torch.equal(state[name], value) for name, value in local.state_dict().items())
    assert [name for name, _ in remote.named_buffers()] == ["scale"]
    shapes = [(name, p.shape, p.requires_grad) for name, p in local.named_parameters()]
    assert [(name, p.shape, p.requires_grad) for name, p in remote.named_parameters()] == shapes


def test_a_state_that_does_not_fit_raises_as_it_would_locally(open_submission: Open) -> None:
    remote = open_submission(LAYER, "Layer").Layer(4)
    with pytest.raises(RuntimeError, match="Missing key"):
        remote.load_state_dict({"inner.weight": torch.ones(4, 4)})


def test_gradients_cross_to_inputs_and_parameters(open_submission: Open) -> None:
    remote, local = open_submission(LAYER, "Layer").Layer(4), local_layer(4)
    remote.load_state_dict(local.state_dict())
    x = torch.randn(2, 4)
    results = []
    for module in (remote, local):
        parameters = dict(module.named_parameters())
        here = x.clone().requires_grad_()
        (module(here * 3).pow(2).sum() + here.sum()).backward()
        results.append((here.grad, {name: p.grad for name, p in parameters.items()}))
    torch.testing.assert_close(results[0][0], results[1][0])
    for name, grad in results[1][1].items():
        torch.testing.assert_close(results[0][1][name], grad)


def test_a_returned_parameter_still_asks_for_gradients(open_submission: Open) -> None:
    source = "import torch\ndef f(): return torch.nn.Parameter(torch.ones(2))"
    submission = open_submission(source, "f")
    assert submission.f().requires_grad
    with torch.no_grad():
        assert submission.f().requires_grad


def test_an_output_without_a_graph_does_not_pretend_to_have_one(open_submission: Open) -> None:
    source = LAYER.replace(
        "return torch", "return torch.zeros(1) + 0 * x.detach() if True else torch"
    )
    remote = open_submission(source, "Layer").Layer(4)
    list(remote.parameters())
    assert not remote(torch.randn(2, 4)).requires_grad


@pytest.mark.parametrize(
    "value",
    [None, True, 3, -1.5, float("inf"), "text", (1, [2, "x"]), {"a": (None,)}, 1 << 40],
    ids=str,
)
def test_plain_values_cross(open_submission: Open, value: object) -> None:
    assert open_submission("def f(x): return x", "f").f(value) == value


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "bfloat16", "int64", "bool", "complex64"]
)
def test_tensors_of_every_dtype_cross(open_submission: Open, dtype: str) -> None:
    value = torch.tensor([[0.0, 1.0, 2.0]]).to(getattr(torch, dtype)).T
    back = open_submission("def f(x): return x", "f").f(value)
    assert back.dtype == value.dtype and torch.equal(back, value)


def test_numpy_scalars_and_strange_objects_cross_as_what_they_are(open_submission: Open) -> None:
    source = """
import numpy as np, torch
def array(): return np.arange(6.0).reshape(2, 3)
def thing(): return object()
def sparse(): return torch.eye(3).to_sparse()
def meta(): return torch.empty(2, device="meta")
def expanded(): return torch.ones(1, 3).expand(4, 3)
"""
    submission = open_submission(source, "array", "thing", "sparse", "meta", "expanded")
    assert submission.array().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert all(
        isinstance(f(), Opaque) for f in (submission.thing, submission.sparse, submission.meta)
    )
    assert torch.equal(submission.expanded(), torch.ones(4, 3))


def test_an_input_changed_in_place_is_seen_by_the_caller(open_submission: Open) -> None:
    source = "def f(x, y):\n    x.data.mul_(2)\n    return y + 1"
    x, y = torch.ones(2, 2), torch.ones(2)
    assert torch.equal(open_submission(source, "f").f(x, y), torch.full((2,), 2.0))
    assert torch.equal(x, torch.full((2, 2), 2.0)) and torch.equal(y, torch.ones(2))


def test_student_exceptions_keep_their_builtin_type_and_their_own_frames(
    open_submission: Open,
) -> None:
    source = "class Odd(ValueError): pass\ndef f():\n    raise Odd('no')"
    with pytest.raises(ValueError) as caught:
        open_submission(source, "f").f()
    error = caught.value
    assert isinstance(error, StudentError) and error.type_name == "Odd" and error.message == "no"
    assert error.frames == [("work.py", 3, "raise Odd('no')")]


@pytest.mark.parametrize(
    "error", ["SystemExit(0)", "KeyboardInterrupt()", "AssertionError('x')", "OSError('x')"]
)
def test_any_exception_is_data(open_submission: Open, error: str) -> None:
    with pytest.raises(StudentError):
        open_submission(f"def f(): raise {error}", "f").f()


def test_a_missing_name_and_a_missing_file_are_missing(open_submission: Open) -> None:
    submission = open_submission("x = 1", "f")
    with pytest.raises(MissingName, match="does not define f"):
        submission.f()
    with pytest.raises(MissingName, match="no work.py"):
        open_submission("", "f", files={}).f()


def test_an_import_error_is_told_again_without_importing_again(open_submission: Open) -> None:
    submission = open_submission("import nothing_of_that_name", "f")
    for _ in range(2):
        with pytest.raises(ImportError, match="nothing_of_that_name"):
            submission.f()


def test_without_blocks_a_name_in_a_fresh_process_only(open_submission: Open) -> None:
    source = """
from torch import nn
import torch.nn.functional as F
def hidden(q): return getattr(F, "scaled_dot" + "_product_attention")(q, q, q)
def layer(q): return nn.MultiheadAttention(4, 2)(q, q, q)[0]
def own(q): return q * 2
"""
    submission = open_submission(source, "hidden", "layer", "own")
    blocked = submission.without(
        "torch.ops.aten.scaled_dot_product_attention", "torch.nn.MultiheadAttention"
    )
    q = torch.randn(3, 5, 4)
    assert isinstance(submission.hidden(q), Tensor) and isinstance(submission.layer(q), Tensor)
    for name in ("hidden", "layer"):
        with pytest.raises(StudentError, match="not to be used"):
            getattr(blocked, name)(q)
    assert torch.equal(blocked.own(q), q * 2)


def test_a_stopped_worker_is_not_an_exception_that_tests_catch(open_submission: Open) -> None:
    assert not issubclass(Stopped, Exception)
    submission = open_submission("import os\ndef f(): os._exit(0)\ndef g(): return 7", "f", "g")
    with pytest.raises(Stopped):
        submission.f()
    assert submission.g() == 7  # a new worker


LATE = """
import torch
from torch import nn

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
    def train(self, mode=True):
        raise ValueError("no modes here")
    def forward(self, x):
        return x * self.weight

class Plain(nn.Module):
    def __init__(self, other=None):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
    def forward(self, x):
        with torch.no_grad():
            self.weight += 1
        return x
"""


def test_what_a_mode_raises_is_raised_by_the_next_call(open_submission: Open) -> None:
    layer = open_submission(LATE, "Layer", "Plain").Layer()
    layer.eval()
    with pytest.raises(ValueError, match="no modes here"):
        layer(torch.ones(2))


def test_what_a_mode_raises_is_not_charged_to_the_next_test(open_submission: Open) -> None:
    submission = open_submission(LATE, "Layer", "Plain")
    submission.begin_test()
    submission.Layer().eval()
    submission.end_test()
    submission.begin_test()
    assert float(submission.Plain().state_dict()["weight"].sum()) == 2


def test_a_module_that_is_gone_takes_no_other_along(open_submission: Open) -> None:
    submission = open_submission(LATE, "Layer", "Plain")
    submission.Plain().train()  # its handle is given back before its mode is set
    assert torch.equal(submission.Plain()(torch.ones(2)), torch.ones(2))


def test_a_state_that_was_sent_ahead_is_not_believed_for_long(open_submission: Open) -> None:
    plain = open_submission(LATE, "Layer", "Plain").Plain()
    plain(torch.ones(2))
    assert plain.state_dict()["weight"].tolist() == [2, 2]
    assert plain.double().state_dict()["weight"].dtype is torch.float64


def test_a_state_is_loaded_as_it_was_and_before_anything_else_is_asked(
    open_submission: Open,
) -> None:
    remote, local = open_submission(LAYER, "Layer").Layer(4), local_layer(4)
    state = {name: value.clone() for name, value in remote.state_dict().items()}
    state["inner.weight"][:] = 2.0
    remote.load_state_dict(state)
    local.load_state_dict(state)
    state["inner.weight"][:] = 3.0
    x = torch.randn(2, 4)
    torch.testing.assert_close(remote(x), local(x))
    remote.load_state_dict(state)
    assert bool((remote.state_dict()["inner.weight"] == 3.0).all())
    remote.load_state_dict(local.state_dict())
    assert bool((dict(remote.named_parameters())["inner.weight"] == 2.0).all())


def test_what_was_sent_ahead_is_not_believed_when_modules_share_their_weights(
    open_submission: Open,
) -> None:
    shared = LAYER + "\n\nINNER = nn.Linear(4, 4)\n\n\nclass Shared(Layer):\n"
    shared += "    def __init__(self, width):\n"
    shared += "        super().__init__(width)\n        self.inner = INNER\n"
    submission = open_submission(shared, "Shared")
    one = submission.Shared(4)
    state = one.state_dict()
    other = submission.Shared(4)
    one.load_state_dict({name: value * 0 + 2.0 for name, value in state.items()})
    assert bool((other.state_dict()["inner.weight"] == 2.0).all())


MAKING = (
    LAYER
    + """

made = []


class Counted(Layer):
    def __init__(self, width, last=9):
        super().__init__(width)
        made.append(torch.is_grad_enabled())
        if len(made) > last:
            raise ValueError("too many")


class Named(Counted):
    def __init__(self, width):
        super().__init__(width)
        self.register_buffer(f"number{len(made)}", torch.zeros(1))


class Fewer(Layer):
    def __init__(self, width):
        super().__init__(width)
        made.append(0)
        if len(made) > 1:
            self.inner = nn.Linear(width, width, bias=False)


def make(width):
    made.append(0)
    return Layer(width) if len(made) == 1 else made


def count():
    return len(made)


def grad_modes():
    return made
"""
)
NAMES_OF_MAKING = ("Counted", "Named", "Fewer", "make", "count", "grad_modes")


@pytest.fixture
def making(open_submission: Open) -> Submission:
    submission = open_submission(MAKING, *NAMES_OF_MAKING)
    submission.makes_later = True
    return submission


def test_a_module_like_one_before_is_made_with_what_is_asked_of_it(making: Submission) -> None:
    x, local = torch.randn(2, 4), local_layer(4).eval()
    for expected in range(1, 5):
        before = making._exchanges
        layer = making.Counted(4)
        layer.eval()
        layer.load_state_dict(local.state_dict())
        torch.testing.assert_close(layer(x), local(x))
        assert making.count() == expected
        # Making and loading count as exchanges ahead of the two that take place.
        assert expected == 1 or making._exchanges - before == 4
    assert making.Counted(4, 8) is not layer and making.count() == 5  # another call: made at once
    assert not making.is_misled


def test_it_is_made_in_its_turn_and_in_the_mode_of_its_call(making: Submission) -> None:
    making.Counted(4)
    with torch.no_grad():
        second = making.Counted(4)
    third = making.Counted(4)
    state = {name: value + 1 for name, value in third.state_dict().items()}
    third.load_state_dict(state)
    assert making.grad_modes() == [True, False, True]
    assert torch.equal(third.state_dict()["inner.weight"], state["inner.weight"])
    assert not torch.equal(second.state_dict()["inner.weight"], state["inner.weight"])
    assert [name for name, _ in second.named_parameters()] == [
        "frozen",
        "inner.weight",
        "inner.bias",
    ]
    assert not making.is_misled


def test_one_that_nothing_is_asked_of_is_made_all_the_same(making: Submission) -> None:
    for _ in range(3):
        making.Counted(4)
    making.end_test()
    making.begin_test()
    assert making.count() == 3 and not making.is_misled


@pytest.mark.parametrize("name", ["Named", "Fewer", "make"])
def test_who_makes_something_else_the_second_time_is_found_out(
    making: Submission, name: str
) -> None:
    make = getattr(making, name)
    state = make(4).state_dict()
    another = make(4)
    with pytest.raises(StudentError, match="not like the one"):
        load_and_ask(another, state, torch.ones(2, 4))
    assert making.is_misled


def test_who_cannot_be_made_again_is_found_out_at_the_latest_when_a_test_ends(
    making: Submission,
) -> None:
    making.Counted(4, 1)
    making.Counted(4, 1)
    assert not making.is_misled
    making.end_test()
    assert making.is_misled


def test_one_is_gone_before_the_next_one_is_made(open_submission: Open) -> None:
    counting = MAKING.replace(
        "class Counted(Layer):", "class Counted(Layer):\n    alive = most = 0"
    )
    counting = counting.replace(
        "        made.append(torch.is_grad_enabled())",
        """
        Counted.alive += 1
        Counted.most = max(Counted.most, Counted.alive)

    def __del__(self):
        Counted.alive -= 1

    def unused(self, last=9):""",
    ).replace(
        "def count():\n    return len(made)",
        """
def count():
    return Counted.most""",
    )
    making = open_submission(counting, *NAMES_OF_MAKING)
    making.makes_later = True
    for _ in range(5):
        making.Counted(4)(torch.ones(1, 4))
    assert making.count() == 1


def test_so_is_who_is_never_done_with_it(open_submission: Open) -> None:
    slow = MAKING.replace('raise ValueError("too many")', "import time; time.sleep(60)")
    making = open_submission(slow, *NAMES_OF_MAKING, test_seconds=0.5)
    making.makes_later = True
    making.Counted(4, 1)
    making.Counted(4, 1)
    making.end_test()
    assert making.is_misled and not making.is_alive()


def test_like_one_before_means_like_the_first_one(open_submission: Open) -> None:
    """Whatever the later ones were, and were asked for."""
    changing = (
        LAYER
        + """
made = []

class Changing(nn.Module):
    def __init__(self, width):
        super().__init__()
        made.append(0)
        first, second = ("a", "b") if len(made) == 1 else ("b", "a")
        self.register_buffer(first, torch.zeros(1))
        self.register_buffer(second, torch.zeros(1))

    def forward(self, x):
        return x * 0 + self.a
"""
    )
    submission = open_submission(changing, "Changing")
    state = {"a": torch.ones(1), "b": 2 * torch.ones(1)}
    for asks in (True, True, False, False):
        layer = submission.Changing(4)
        if asks:
            layer.state_dict()
        assert load_and_ask(layer, state, torch.zeros(1)) == 1


@pytest.mark.parametrize("handle", [0, -1, 1 << 53, 10**4299, True])
def test_a_module_has_a_number_that_another_can_follow(making: Submission, handle: int) -> None:
    unpacker = Unpacker(making, bytearray())
    with pytest.raises(Stopped) if handle is not True else contextlib.nullcontext():
        unpacker.read(["m", handle, "Layer"])
    making.count()
    before = making.new_handle()
    assert 0 < before < 1 << 53 and making.new_handle() == before + 1


def test_a_long_frame_is_not_kept_for_what_it_says_of_a_module(making: Submission) -> None:
    module = making.Counted(4)
    assert module.told_state() is not None and module._ahead is not None
    stamp, _, values = module._ahead
    module._ahead = stamp, Unpacker(making, bytearray(1 << 20)), values
    assert module.told_state() is None


def test_an_error_of_what_was_asked_for_misleads_nobody(making: Submission) -> None:
    making.Counted(4)
    layer = making.Counted(4)
    with pytest.raises(StudentError):
        layer(torch.ones(2, 5))
    assert not making.is_misled


@pytest.mark.parametrize("name", ["Named", "Fewer"])
def test_where_nothing_is_made_later_another_layout_is_no_matter(
    open_submission: Open, name: str
) -> None:
    submission = open_submission(MAKING, *NAMES_OF_MAKING)
    for _ in range(3):
        layer = getattr(submission, name)(4)
        state = {key: value * 0 for key, value in layer.state_dict().items()}
        assert not load_and_ask(layer, state, torch.ones(2, 4)).any()
    layer = getattr(submission, name)(4)
    with pytest.raises(StudentError) if name == "Named" else contextlib.nullcontext():
        load_and_ask(layer, state, torch.ones(2, 4))


def load_and_ask(module: Any, state: dict[str, Tensor], x: Tensor) -> object:
    module.load_state_dict(state)
    return module(x)


GROWING = (
    LAYER
    + """

class Growing(Layer):
    def forward(self, x):
        self.register_buffer("seen", x.clone())
        return super().forward(x)
"""
)


def test_a_state_that_is_like_the_one_told_is_loaded_as_any_other(open_submission: Open) -> None:
    submission = open_submission(GROWING, "Growing")
    x = torch.randn(2, 4)
    for change in (
        lambda state: state,
        lambda state: dict(reversed(state.items())),
        lambda state: {name: value.double() for name, value in state.items()},
        lambda state: {name: torch.stack([value] * 2, -1)[..., 0] for name, value in state.items()},
    ):
        remote, local = submission.Growing(4), local_layer(4)
        state = change({name: value * 2 for name, value in local.state_dict().items()})
        assert list(remote.state_dict()) == list(local.state_dict())
        remote.load_state_dict(state)
        local.load_state_dict(state)
        torch.testing.assert_close(remote(x), local(x))
        with pytest.raises(StudentError, match="seen"):  # its state has grown since
            load_and_ask(remote, state, x)
