"""Progress of long work, on standard error: a bar in a terminal, elsewhere one line per minute."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

INTERVAL = 60.0
"""Seconds between two lines."""


class Advance(Protocol):
    """Called with the amount of work just done and, when that changes, what is being done now."""

    def __call__(self, count: int, doing: str = "", /) -> object: ...


@contextmanager
def progress_of(
    doing: str, total: int | None, *, is_shown: bool, unit: str = ""
) -> Iterator[Advance]:
    """Yield a function to call with the amount of work just done; without a terminal, short work is silent.

    unit: what is counted; with it a bar also shows the speed and the time taken so far. A single piece of
    work gets lines even in a terminal, because its bar could not move.
    """
    if not is_shown:
        yield lambda _count, _doing="": None
    elif sys.stderr.isatty() and total != 1:
        with bar(doing, total, unit) as advance:
            yield advance
    else:
        with lines(doing, total) as advance:
            yield advance


@contextmanager
def bar(doing: str, total: int | None, unit: str) -> Iterator[Advance]:
    """Show a bar that moves."""
    rate = (TextColumn("{task.fields[rate]}"), TimeElapsedColumn()) if unit else ()
    name = TextColumn("{task.description}", markup=False)
    columns = (name, BarColumn(), MofNCompleteColumn(), *rate, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(doing, total=total, rate="")

        def advance(count: int, doing: str = "", /) -> None:
            shown.advance(task, count)
            speed = shown.tasks[0].speed
            rate = f"{speed:.1f} {unit}/s" if speed else ""
            shown.update(task, description=doing or None, rate=rate)

        yield advance


@contextmanager
def lines(doing: str, total: int | None) -> Iterator[Advance]:
    """Print a line per minute, from a thread, because one pass may take longer than that."""
    finished, started, done = Event(), monotonic(), [0]

    def write() -> None:
        while not finished.wait(INTERVAL):
            reached = f"{done[0]:,}" if total is None else f"{done[0]:,} of {total:,}"
            minutes = (monotonic() - started) / 60
            print(f"{doing}: {reached} after {minutes:.0f} min", file=sys.stderr, flush=True)

    def advance(count: int, _doing: str = "", /) -> None:
        done[0] += count

    writer = Thread(target=write, daemon=True)
    writer.start()
    try:
        yield advance
    finally:
        finished.set()
        writer.join()
