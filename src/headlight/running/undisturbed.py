"""Work in a state of its own: what is set for a thread around a pass is put back, also on Ctrl-C."""

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from threading import Lock, current_thread, main_thread
from traceback import clear_frames
from types import FrameType
from typing import Any, TypeVar

import torch
from torch.overrides import (
    TorchFunctionMode,
    _get_current_function_mode_stack,
    _pop_mode,
    _push_mode,
)

from headlight.errors import HeadlightError

T = TypeVar("T")

DEVICES = ("cpu", "cuda", "mps", "xpu")
"""Kinds of devices for each of which torch has an autocast."""


def undisturbed(work: Callable[[], T], *contexts: AbstractContextManager[Any]) -> T:
    """What `work` gives inside these contexts, which Ctrl-C can neither half enter nor half leave."""
    interrupts = Interrupts.held()
    outside, inside = ThreadState.now(), None
    undo = ExitStack()
    try:
        for context in contexts:
            undo.enter_context(context)
        inside = ThreadState.now()
        try:
            interrupts.are_let_through = True
            return work()
        except KeyboardInterrupt as error:
            # A context cut short in its leaving ends when its frame is forgotten, and would undo the restoring.
            clear_frames(error.__traceback__)
            raise
        finally:
            interrupts.are_let_through = False
    finally:
        try:
            if inside is not None:
                inside.restore()  # each context expects on leaving what it left on entering
            undo.close()
        finally:
            outside.restore()
            interrupts.release()


class Interrupts:
    """Ctrl-C, kept waiting until `release` except while it is let through.

    One that is let through closes the door behind it, so that no second one can cut short the undoing that
    the first has set off.
    """

    def __init__(self) -> None:
        self.are_let_through = False
        self.waiting: list[FrameType | None] = []
        self.former: Any = None

    @classmethod
    def held(cls) -> "Interrupts":
        """From now on; without effect in threads that get no signals."""
        made = cls()
        if current_thread() is main_thread() and callable(signal.getsignal(signal.SIGINT)):
            made.former = signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGINT, made.handle)
        return made

    def handle(self, _number: int, frame: FrameType | None) -> None:
        """Pass an interrupt on, or keep it."""
        if not self.are_let_through:
            self.waiting.append(frame)
            return
        self.are_let_through = False
        self.former(signal.SIGINT, frame)
        self.are_let_through = True

    def release(self) -> None:
        """Put the former handler back and give it what waited."""
        if self.former is None:
            return
        signal.signal(signal.SIGINT, self.former)
        if self.waiting:
            self.former(signal.SIGINT, self.waiting[0])


@dataclass(frozen=True)
class ThreadState:
    """What torch keeps for a thread, and a `with` interrupted inside a network may have left changed."""

    modes: tuple[TorchFunctionMode, ...]
    computes_gradients: bool
    casting: tuple[bool, ...]

    @classmethod
    def now(cls) -> "ThreadState":
        """As it is."""
        return cls(
            tuple(_get_current_function_mode_stack()),  # type: ignore[no-untyped-call]
            torch.is_grad_enabled(),
            tuple(map(torch.is_autocast_enabled, DEVICES)),
        )

    def restore(self) -> None:
        """As it was."""
        if ThreadState.now() == self:
            return
        while torch._C._len_torch_function_stack():
            _pop_mode()  # type: ignore[no-untyped-call]
        torch.set_grad_enabled(self.computes_gradients)
        for device, is_casting in zip(DEVICES, self.casting, strict=True):
            torch.set_autocast_enabled(device, is_casting)
        for mode in self.modes:
            _push_mode(mode)  # type: ignore[no-untyped-call]


# ----------------------------------------------------------------- whatever the caller has set


@contextmanager
def plain_state() -> Iterator[None]:
    """No inference mode, autocast, other default device or compiled code, whatever the caller has set."""
    if torch._C._functorch.get_dynamic_layer_stack_depth():
        raise inside_of("a transformation of torch.func, such as vmap or grad,")
    with ExitStack() as undo:
        undo.enter_context(torch.inference_mode(False))
        for device in DEVICES:
            if torch.is_autocast_enabled(device):
                undo.enter_context(torch.autocast(device, enabled=False))
        if torch.get_default_device().type != "cpu":
            undo.enter_context(torch.device("cpu"))
        undo.enter_context(EAGERLY.entered())
        yield


def inside_of(caller: str) -> HeadlightError:
    """The error for a call from where a network cannot be watched."""
    return HeadlightError(
        f"headlight was called inside of {caller} where a network cannot be watched. Call it outside of it."
    )


class Eagerly:
    """Functions that torch.compile has made run as they were written while any thread is inside.

    torch knows this only for the whole process: the first to enter sets it, the last to leave puts it back.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self.undo = ExitStack()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Inside."""
        with self.lock:
            if self.count == 0:
                try:
                    self.undo.enter_context(torch.compiler.set_stance("force_eager"))
                except RuntimeError as error:
                    raise inside_of("a function that torch.compile has made,") from error
            self.count += 1
        try:
            yield
        finally:
            with self.lock:
                self.count -= 1
                if self.count == 0:
                    self.undo.close()


EAGERLY = Eagerly()


@contextmanager
def threads_as_found() -> Iterator[None]:
    """Whatever sets the number of threads inside, afterwards it is what it was."""
    count = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(count)
