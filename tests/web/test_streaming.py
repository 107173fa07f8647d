"""What the worker says on its way arrives in order, and it stops when nobody listens."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from threading import Event

import pytest

from headlight.errors import InvalidInput
from headlight.web.limits import Limits, Refusal
from headlight.web.streaming import Say, lines_of, streamed
from headlight.web.worker import Worker


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker(Limits(seconds=5))
    yield made
    made.close()


def test_values_arrive_in_order_and_the_result_is_the_last(worker: Worker) -> None:
    def work(say: Say[int]) -> int:
        for number in range(5):
            say(number)
        return 5

    async def heard() -> list[int]:
        return [value async for value in streamed(worker, work)]

    assert asyncio.run(heard()) == [0, 1, 2, 3, 4, 5]


def test_work_stops_when_nobody_listens(worker: Worker) -> None:
    left, stopped = Event(), Event()

    def work(say: Say[int]) -> int:
        say(0)
        assert left.wait(5)
        try:
            say(1)
        except Refusal:
            stopped.set()
            raise
        return 2

    async def listen() -> None:
        values = streamed(worker, work)
        assert await anext(values) == 0
        await values.aclose()
        left.set()

    asyncio.run(listen())
    assert stopped.wait(5)


def test_an_error_before_the_first_value_is_raised(worker: Worker) -> None:
    def work(_: Say[int]) -> int:
        raise InvalidInput("there is no text.")

    async def first() -> int:
        return await anext(streamed(worker, work))

    with pytest.raises(InvalidInput, match="there is no text"):
        asyncio.run(first())


@pytest.mark.parametrize("error", [InvalidInput("it broke."), Refusal(504, "it broke.")])
def test_an_error_after_it_is_the_last_line(error: Exception) -> None:
    async def others() -> AsyncIterator[int]:
        yield 1
        raise error

    async def heard() -> list[object]:
        return [json.loads(line) async for line in lines_of(0, others())]

    kind = type(error).__name__
    assert asyncio.run(heard()) == [0, 1, {"error": "it broke.", "kind": kind}]
