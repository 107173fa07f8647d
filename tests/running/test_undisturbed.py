"""Ctrl-C at any step leaves the network and the thread as they were, and a caller's state changes no score."""

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from types import FrameType
from typing import Any

import numpy as np
import pytest
import torch
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

import headlight
from headlight import Batch, HeadlightError
from headlight.models.model import Task
from headlight.running.undisturbed import DEVICES, EAGERLY, Interrupts, undisturbed
from headlight.trace.recorder import RECORDER
from tests.contracts.test_no_mark import assert_same, fingerprint
from tests.networks import network, rows

LENGTHS = Batch.from_ids(rows(2))
METHODS = ["attn_lrp", "attcat"]


def thread_state() -> dict[str, Any]:
    """What a call could leave behind in its thread or process."""
    return {
        "recorder": RECORDER.get(),
        "modes": torch._C._len_torch_function_stack(),
        "gradients": torch.is_grad_enabled(),
        "inference": torch.is_inference_mode_enabled(),
        "casting": tuple(map(torch.is_autocast_enabled, DEVICES)),
        "signal": signal.getsignal(signal.SIGINT),
        "eager": EAGERLY.count,
        "default type": torch.get_default_dtype(),
    }


# ----------------------------------------------------------------------------------------- Ctrl-C

STEPS = (
    "undisturbed.py",
    "capture.py",
    "contextlib.py",
    "grad_mode.py",
    "overrides.py",
    "double.py",
)


class Interruption:
    """Counts the lines that set things up and undo them, and sends the signal of Ctrl-C at one of them."""

    def __init__(self, at: int | None):
        self.at, self.seen, self.where = at, 0, ""

    def __call__(self, frame: FrameType, event: str, _arg: Any) -> Any:
        if not frame.f_code.co_filename.endswith(STEPS) and frame.f_code.co_name != "intercepted":
            return None
        self.seen += event == "line"
        if event == "line" and self.seen == self.at:
            self.where = f"{frame.f_code.co_name}, line {frame.f_lineno}"
            signal.raise_signal(signal.SIGINT)
        return self


@contextmanager
def traced(trace: Interruption) -> Iterator[None]:
    """Interrupt what runs inside."""
    former = sys.gettrace()
    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(former)


@pytest.fixture(autouse=True)
def interruptible() -> Iterator[None]:
    """Interrupts as Python handles them, also where the tests run behind a shell that ignores them."""
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, former)


@pytest.fixture
def trained() -> PreTrainedModel:
    """A network that is being trained, in a thread that computes gradients."""
    net = network("bert", Task.SEQUENCE).train()
    next(net.parameters()).requires_grad_(False)
    return net


def interrupted_everywhere(net: PreTrainedModel, work: Callable[[], object], count: int) -> None:
    """Interrupt work at this many of its steps, and compare what is left with what was there."""
    work()
    counter = Interruption(None)
    with traced(counter):
        work()
    before, state = fingerprint(net), thread_state()
    for at in np.linspace(1, counter.seen, count).astype(int).tolist():
        interruption = Interruption(at)
        with pytest.raises(KeyboardInterrupt), traced(interruption):
            work()
        assert thread_state() == state, f"interrupted in {interruption.where}"
        assert_same(dict(before), fingerprint(net))


@pytest.mark.no_cover  # its tracing would end coverage's own, for every test after it
@pytest.mark.parametrize(
    "count", [40, pytest.param(800, marks=pytest.mark.slow)], ids=["some steps", "many steps"]
)
def test_an_interrupted_explanation_leaves_no_mark(trained: PreTrainedModel, count: int) -> None:
    wrapped = headlight.wrap(trained)
    interrupted_everywhere(trained, lambda: headlight.explain(wrapped, LENGTHS, METHODS), count)


@pytest.mark.no_cover
def test_an_interrupted_prediction_leaves_no_mark(trained: PreTrainedModel) -> None:
    from headlight.explaining.prediction import predict

    wrapped = headlight.wrap(trained)
    work = lambda: predict(wrapped, LENGTHS.rows, [headlight.Target()] * 2)  # noqa: E731
    with torch.no_grad():
        interrupted_everywhere(trained, work, 20)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, RuntimeError])
def test_an_error_in_the_network_leaves_no_mark(
    trained: PreTrainedModel, error: type[BaseException]
) -> None:
    wrapped = headlight.wrap(trained)

    def fail(*_args: Any) -> None:
        with Leaking():
            raise error

    handle = trained.get_submodule("bert.encoder.layer.1").register_forward_hook(fail)
    before, state = fingerprint(trained), thread_state()
    with pytest.raises((error, headlight.HeadlightError)):
        headlight.explain(wrapped, LENGTHS, METHODS)
    assert thread_state() == state
    assert_same(before, fingerprint(trained))
    handle.remove()


class Passing(TorchFunctionMode):
    """A mode of the caller's own that changes nothing."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Leaking(Passing):
    """Stays behind, as a `with` does that is interrupted on leaving."""

    def __exit__(self, *_args: object) -> None:
        torch.set_grad_enabled(False)
        torch.set_autocast_enabled("cpu", True)


def test_an_interrupt_waits_while_things_are_set_up() -> None:
    steps: list[str] = []

    @contextmanager
    def context() -> Iterator[None]:
        signal.raise_signal(signal.SIGINT)
        steps.append("entered")
        yield
        steps.append("left")

    with pytest.raises(KeyboardInterrupt):
        undisturbed(lambda: steps.append("worked"), context())
    assert steps == ["entered", "worked", "left"]


def test_an_interrupt_reaches_work_at_once_and_a_second_one_waits() -> None:
    steps: list[str] = []

    @contextmanager
    def context() -> Iterator[None]:
        yield
        signal.raise_signal(signal.SIGINT)
        steps.append("left")

    def work() -> None:
        signal.raise_signal(signal.SIGINT)
        steps.append("worked")

    with pytest.raises(KeyboardInterrupt):
        undisturbed(work, context())
    assert steps == ["left"]


def test_a_handler_of_the_caller_is_called_and_put_back() -> None:
    heard: list[int] = []
    own = lambda number, _frame: heard.append(number)  # noqa: E731
    former = signal.signal(signal.SIGINT, own)
    try:
        undisturbed(lambda: [signal.raise_signal(signal.SIGINT) for _ in range(2)])  # type: ignore[func-returns-value]
        assert heard == [signal.SIGINT] * 2
        assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, former)


def test_a_signal_that_is_ignored_stays_ignored_and_threads_get_none() -> None:
    former = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert undisturbed(lambda: signal.getsignal(signal.SIGINT)) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, former)
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(Interrupts.held().former))
    thread.start()
    thread.join()
    assert found == [None]


# --------------------------------------------------------------------- what the caller has set up


@contextmanager
def default_type() -> Iterator[None]:
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


@contextmanager
def deterministic() -> Iterator[None]:
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)


AROUND: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "no gradients": torch.no_grad,
    "inference mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
    "another default device": lambda: torch.device("meta"),
    "another default type": default_type,
    "deterministic algorithms": deterministic,
    "anomaly detection": lambda: torch.autograd.set_detect_anomaly(True),
    "a function mode": Passing,
    "saved tensors packed": lambda: torch.autograd.graph.save_on_cpu(),
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_what_a_caller_has_set_changes_no_score(around: str) -> None:
    methods = ["attn_lrp", "lrp", "attcat", "alti", "integrated_gradients", "deeplift", "rollout"]
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE).double())
    found = []
    for context in (nullcontext, AROUND[around]):
        with context():
            found.append(headlight.explain(wrapped, LENGTHS, methods, steps=3))
    for name in methods:
        for a, b in zip(found[0][name], found[1][name], strict=True):
            np.testing.assert_allclose(b.scores, a.scores, rtol=1e-9, atol=1e-12, err_msg=name)
            assert b.target == a.target


@pytest.mark.parametrize(
    "transform", [torch.func.vmap, torch.func.grad, partial(torch.compile, backend="eager")]
)
@pytest.mark.filterwarnings("ignore")  # of the compiler, about the code that it cannot follow
def test_a_call_inside_a_transformation_is_refused(transform: Callable[..., Any]) -> None:
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE))

    def work(x: torch.Tensor) -> torch.Tensor:
        headlight.explain(wrapped, LENGTHS, "rollout")
        return x.sum()

    with pytest.raises(HeadlightError, match=r"torch\.(func|compile).*outside of it"):
        transform(work)(torch.ones(2))


@pytest.mark.slow
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.filterwarnings("ignore:Anomaly Detection")
def test_a_network_can_be_wrapped_whatever_the_caller_has_set(around: str) -> None:
    net = network("bert", Task.SEQUENCE)
    with AROUND[around]():
        headlight.wrap(net)


def test_a_network_made_in_inference_mode_is_explained() -> None:
    with torch.inference_mode():
        net = network("bert", Task.SEQUENCE).double()
    expected = headlight.explain(
        headlight.wrap(network("bert", Task.SEQUENCE).double()), LENGTHS, METHODS
    )
    found = headlight.explain(headlight.wrap(net), LENGTHS, METHODS)
    for name in METHODS:
        for a, b in zip(found[name], expected[name], strict=True):
            np.testing.assert_allclose(a.scores, b.scores, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:.gradient_checkpointing_enable.")
def test_gradient_checkpointing_changes_no_score() -> None:
    net = network("bert", Task.SEQUENCE).double()
    expected = headlight.explain(headlight.wrap(net), LENGTHS, METHODS)
    net.gradient_checkpointing_enable({"use_reentrant": True})
    net.train()
    found = headlight.explain(headlight.wrap(net), LENGTHS, METHODS)
    for name in METHODS:
        for a, b in zip(found[name], expected[name], strict=True):
            np.testing.assert_allclose(a.scores, b.scores, rtol=1e-9, atol=1e-12)
