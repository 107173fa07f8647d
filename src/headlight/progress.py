"""How far long work is, on standard error: a bar in a terminal, elsewhere one line a minute."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from time import monotonic

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

INTERVAL = 60.0
"""Seconds between two lines."""

Advance = Callable[[int], object]


@contextmanager
def progress_of(doing: str, total: int | None, *, is_shown: bool) -> Iterator[Advance]:
    """A function that is told how much more is done; work that is short says nothing without a terminal.

    One single thing has no bar that could move, so its lines only say that it goes on.
    """
    if not is_shown:
        yield lambda _count: None
    elif sys.stderr.isatty() and total != 1:
        with bar(doing, total) as advance:
            yield advance
    else:
        with lines(doing, total) as advance:
            yield advance


@contextmanager
def bar(doing: str, total: int | None) -> Iterator[Advance]:
    """A bar that moves."""
    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(doing, total=total)
        yield lambda count: shown.advance(task, count)


@contextmanager
def lines(doing: str, total: int | None) -> Iterator[Advance]:
    """A line a minute, written by a thread, because one pass may take longer than that."""
    finished, started, done = Event(), monotonic(), [0]

    def write() -> None:
        while not finished.wait(INTERVAL):
            reached = f"{done[0]:,}" if total is None else f"{done[0]:,} of {total:,}"
            minutes = (monotonic() - started) / 60
            print(f"{doing}: {reached} after {minutes:.0f} min", file=sys.stderr, flush=True)

    def advance(count: int) -> None:
        done[0] += count

    writer = Thread(target=write, daemon=True)
    writer.start()
    try:
        yield advance
    finally:
        finished.set()
        writer.join()
