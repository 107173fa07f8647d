"""The queue before the models: order, sharing, and what happens to those who wait too long."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any

import pytest

from headlight.web.limits import Limits, Refusal
from headlight.web.worker import Worker


@dataclass(eq=False)
class Answers:
    """Work that notes what it is asked, and goes on when it may."""

    calls: list[list[Any]] = field(default_factory=list)
    begun: Event = field(default_factory=Event)
    may_go_on: Event = field(default_factory=Event)

    def __call__(self, questions: Sequence[Any]) -> list[Any]:
        self.calls.append(list(questions))
        self.begun.set()
        assert self.may_go_on.wait(10)
        return [f"answer to {question}" for question in questions]


@pytest.fixture
def answers() -> Iterator[Answers]:
    made = Answers()
    yield made
    made.may_go_on.set()


@contextmanager
def open_worker(answers: Answers, **limits: Any) -> Iterator[Worker]:
    worker = Worker(Limits(**limits))
    try:
        yield worker
    finally:
        answers.may_go_on.set()
        worker.close()


@asynccontextmanager
async def busy(worker: Worker, answers: Answers) -> AsyncIterator[None]:
    """While this lasts the worker is at a first question, so that others wait."""
    first = asyncio.create_task(worker.ask("first", answers, "first"))
    await asyncio.to_thread(answers.begun.wait)
    yield
    answers.may_go_on.set()
    assert await first == "answer to first"


async def asked(
    worker: Worker, answers: Any, *questions: tuple[Any, Any]
) -> list[asyncio.Task[Any]]:
    """Tasks of (key, question), all in the queue."""
    tasks = [asyncio.create_task(worker.ask(key, answers, question)) for key, question in questions]
    await asyncio.sleep(0)
    return tasks


def test_questions_are_answered_in_their_order(answers: Answers) -> None:
    async def scenario() -> list[Any]:
        async with busy(worker, answers):
            tasks = await asked(worker, answers, *((n, n) for n in range(5)))
        return await asyncio.gather(*tasks)

    with open_worker(answers) as worker:
        assert asyncio.run(scenario()) == [f"answer to {n}" for n in range(5)]
    assert answers.calls == [["first"], [0], [1], [2], [3], [4]]


def test_questions_of_one_key_share_a_call_and_others_do_not(answers: Answers) -> None:
    async def scenario() -> list[Any]:
        async with busy(worker, answers):
            tasks = await asked(worker, answers, *zip("abaca", range(5), strict=True))
        return await asyncio.gather(*tasks)

    with open_worker(answers) as worker:
        assert asyncio.run(scenario()) == [f"answer to {n}" for n in range(5)]
    assert answers.calls == [["first"], [0, 2, 4], [1], [3]]


def test_more_than_may_go_together_are_split(answers: Answers) -> None:
    async def scenario() -> list[Any]:
        async with busy(worker, answers):
            tasks = await asked(worker, answers, *(("a", n) for n in range(7)))
        return await asyncio.gather(*tasks)

    with open_worker(answers, together=3) as worker:
        assert asyncio.run(scenario()) == [f"answer to {n}" for n in range(7)]
    assert answers.calls == [["first"], [0, 1, 2], [3, 4, 5], [6]]


def test_a_full_queue_refuses_and_then_takes_again(answers: Answers) -> None:
    async def scenario() -> None:
        async with busy(worker, answers):
            tasks = await asked(worker, answers, ("a", 0), ("b", 1))
            with pytest.raises(Refusal, match="2 requests are waiting already") as refusal:
                await worker.ask("c", answers, 2)
            assert refusal.value.status == 429
            assert refusal.value.headers == {"Retry-After": "2"}
        await asyncio.gather(*tasks)
        assert await worker.ask("d", answers, 3) == "answer to 3"

    with open_worker(answers, waiting=2) as worker:
        asyncio.run(scenario())


def test_a_question_whose_time_is_over_is_passed_over_if_it_had_not_begun(answers: Answers) -> None:
    async def scenario() -> None:
        first = asyncio.create_task(worker.ask("first", answers, "begun"))
        await asyncio.to_thread(answers.begun.wait)
        second = asyncio.create_task(worker.ask("second", answers, "waiting"))
        for each in (first, second):
            with pytest.raises(Refusal, match=r"longer than 0\.1 seconds") as refusal:
                await each
            assert refusal.value.status == 504
        answers.may_go_on.set()
        assert await worker.ask("third", answers, "later") == "answer to later"

    with open_worker(answers, seconds=0.1) as worker:
        asyncio.run(scenario())
    assert answers.calls == [["begun"], ["later"]]


def test_a_cancelled_question_is_passed_over_and_frees_its_place(answers: Answers) -> None:
    async def scenario() -> list[Any]:
        async with busy(worker, answers):
            gone, kept, gone_too = await asked(worker, answers, ("a", 0), ("a", 1), ("b", 2))
            gone.cancel()
            gone_too.cancel()
            await asyncio.gather(gone, gone_too, return_exceptions=True)
            more = await asked(worker, answers, ("a", 3), ("c", 4))
        return await asyncio.gather(kept, *more)

    with open_worker(answers, waiting=3) as worker:
        assert asyncio.run(scenario()) == [f"answer to {n}" for n in (1, 3, 4)]
    assert answers.calls == [["first"], [1, 3], [4]]


def test_a_question_that_is_cancelled_once_begun_harms_nobody(answers: Answers) -> None:
    async def scenario() -> Any:
        gone = asyncio.create_task(worker.ask("a", answers, 0))
        await asyncio.to_thread(answers.begun.wait)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        answers.may_go_on.set()
        return await worker.ask("a", answers, 1)

    with open_worker(answers) as worker:
        assert asyncio.run(scenario()) == "answer to 1"


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (lambda questions: 1 / 0, ZeroDivisionError),
        (lambda questions: ["too few answers"], ValueError),
    ],
)
def test_work_that_fails_fails_for_all_of_its_questions_only(
    answers: Answers, work: Any, kind: type[Exception]
) -> None:
    async def scenario() -> list[Any]:
        async with busy(worker, answers):
            tasks = await asked(worker, work, ("a", 0), ("a", 1))
            tasks += await asked(worker, answers, ("b", 2))
        return await asyncio.gather(*tasks, return_exceptions=True)

    with open_worker(answers, seconds=5) as worker:
        first, second, third = asyncio.run(scenario())
    assert isinstance(first, kind)
    assert isinstance(second, kind)
    assert third == "answer to 2"


def test_an_exception_as_an_answer_reaches_its_asker_only(answers: Answers) -> None:
    def work(questions: Sequence[Any]) -> list[Any]:
        return [KeyError(n) if n == 1 else n for n in questions]

    async def scenario() -> list[Any]:
        async with busy(worker, answers):
            tasks = await asked(worker, work, *(("a", n) for n in range(3)))
        return await asyncio.gather(*tasks, return_exceptions=True)

    with open_worker(answers) as worker:
        zero, one, two = asyncio.run(scenario())
    assert (zero, two) == (0, 2)
    assert isinstance(one, KeyError)


def test_closing_answers_what_waits_and_refuses_what_comes(answers: Answers) -> None:
    async def scenario() -> list[Any]:
        async with busy(worker, answers):
            tasks = await asked(worker, answers, *((n, n) for n in range(3)))
            closing = asyncio.create_task(asyncio.to_thread(worker.close))
            while worker.is_open:
                await asyncio.sleep(0.001)
            with pytest.raises(Refusal, match="stopping") as refusal:
                await worker.ask("late", answers, "late")
            assert refusal.value.status == 503
        await closing
        return await asyncio.gather(*tasks)

    with open_worker(answers) as worker:
        assert asyncio.run(scenario()) == [f"answer to {n}" for n in range(3)]
    assert not worker.thread.is_alive()
