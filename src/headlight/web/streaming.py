"""`streamed`: what the worker's thread says while it works, as it says it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from threading import Event
from typing import Any, TypeVar

from headlight.errors import HeadlightError
from headlight.web.guard import refusal_body
from headlight.web.limits import Refusal
from headlight.web.worker import Worker

Said = TypeVar("Said")
Say = Callable[[Said], None]


LINES = "application/x-ndjson"
"""The kind of a reply of several lines, each of them JSON."""


async def streamed(worker: Worker, work: Callable[[Say[Said]], Said]) -> AsyncGenerator[Said, None]:
    """What the work says on its way, then what it returns. It is stopped when it speaks to nobody."""
    loop, gone = asyncio.get_running_loop(), Event()
    said: asyncio.Queue[Said | None] = asyncio.Queue()

    def say(value: Said) -> None:
        if gone.is_set():
            raise Refusal(499, "the client disconnected.")
        loop.call_soon_threadsafe(said.put_nowait, value)

    def answered(_: Sequence[None]) -> Sequence[Said | Exception]:
        return [work(say)]

    asking = asyncio.ensure_future(worker.ask(object(), answered, None))
    asking.add_done_callback(lambda _: said.put_nowait(None))
    try:
        while (value := await said.get()) is not None:
            yield value
        yield asking.result()
    finally:
        gone.set()
        asking.cancel()


async def lines_of(first: Any, others: AsyncIterator[Any]) -> AsyncIterator[str]:
    """Values as lines of JSON; an error on the way is the last line, because the status is already sent."""
    yield line(first)
    try:
        async for value in others:
            yield line(value)
    except HeadlightError as error:
        yield line(refusal_body(type(error).__name__, str(error)))
    except Refusal as error:
        yield line(refusal_body("Refusal", str(error)))


def line(value: Any) -> str:
    """A value as one line of JSON."""
    return json.dumps(value) + "\n"
