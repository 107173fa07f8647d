"""Work in a known state: what is set for a thread around a pass is restored afterwards, also on Ctrl-C."""

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
"""Kinds of devices, for each of which torch has its own autocast."""


def undisturbed(work: Callable[[], T], *contexts: AbstractContextManager[Any]) -> T:
    """The result of `work` inside these contexts; Ctrl-C cannot interrupt entering or leaving them."""
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
            # A context whose exit was cut short finishes when its frame is freed: before we restore, then.
            clear_frames(error.__traceback__)
            raise
        finally:
            interrupts.are_let_through = False
    finally:
        try:
            if inside is not None:
                inside.restore()  # each context expects to leave from the state in which it was entered
            undo.close()
        finally:
            outside.restore()
            interrupts.release()


class Interrupts:
    """Holds back Ctrl-C until `release`, except while it is let through.

    While one Ctrl-C is handled, others are held back, so that a second one cannot interrupt the clean-up
    that the first has started.
    """

    def __init__(self) -> None:
        self.are_let_through = False
        self.waiting: list[FrameType | None] = []
        self.former: Any = None

    @classmethod
    def held(cls) -> "Interrupts":
        """Start to hold back Ctrl-C; without effect in threads that get no signals."""
        interrupts = cls()
        if current_thread() is main_thread() and callable(signal.getsignal(signal.SIGINT)):
            interrupts.former = signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGINT, interrupts.handle)
        return interrupts

    def handle(self, _number: int, frame: FrameType | None) -> None:
        """Pass an interrupt on, or keep it."""
        if not self.are_let_through:
            self.waiting.append(frame)
            return
        self.are_let_through = False
        self.former(signal.SIGINT, frame)
        self.are_let_through = True

    def release(self) -> None:
        """Restore the former handler and pass on a Ctrl-C that was held back."""
        if self.former is None:
            return
        signal.signal(signal.SIGINT, self.former)
        if self.waiting:
            self.former(signal.SIGINT, self.waiting[0])


@dataclass(frozen=True)
class ThreadState:
    """What torch keeps per thread and an interrupted `with` inside a network may have left changed."""

    modes: tuple[TorchFunctionMode, ...]
    computes_gradients: bool
    casting: tuple[bool, ...]

    @classmethod
    def now(cls) -> "ThreadState":
        """The state as it is now."""
        return cls(
            tuple(_get_current_function_mode_stack()),  # type: ignore[no-untyped-call]
            torch.is_grad_enabled(),
            tuple(map(torch.is_autocast_enabled, DEVICES)),
        )

    def restore(self) -> None:
        """Set the thread back to this state."""
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
    """Switch off inference mode, autocast, another default device and compiled code inside the block."""
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
    """The error for a call from a place where a network cannot be watched."""
    return HeadlightError(
        f"headlight was called inside {caller} where a network cannot be watched. Call it outside of it."
    )


class Eagerly:
    """Makes compiled functions run as they were written while any thread is inside.

    torch has this setting only for the whole process: the first thread to enter sets it, and the last to
    leave restores it.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.count = 0
        self.undo = ExitStack()

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Run without compiled code inside the block."""
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
    """Restore the number of threads that torch uses after the block."""
    count = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(count)
