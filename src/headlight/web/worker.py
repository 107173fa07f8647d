"""`Worker`: one thread that answers questions in order; questions with the same key share a pass."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any, Generic, TypeVar

from headlight.web.limits import Limits, Refusal

Question = TypeVar("Question")
Answer = TypeVar("Answer")
Work = Callable[[Sequence[Question]], Sequence[Answer | Exception]]
"""Answers several questions with the same key, in order; an answer may be an exception."""


@dataclass(frozen=True, eq=False)
class Ticket(Generic[Question, Answer]):
    """A place in the queue: a question, the function that answers it, and the key of questions to batch."""

    key: Hashable
    work: Work[Question, Answer]
    question: Question
    answer: Future[Answer] = field(default_factory=Future)


class Worker:
    """A queue of limited length in front of one thread.

    A ticket whose client is gone or whose time is over is skipped; one that has started is finished.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.queue: deque[Ticket[Any, Any]] = deque()
        self.changed = Condition()
        self.is_open = True
        self.thread = Thread(target=self.serve, name="headlight-worker", daemon=True)
        self.thread.start()

    async def ask(self, key: Hashable, work: Work[Question, Answer], question: Question) -> Answer:
        """The answer to one question, or a refusal if the queue is full or the time is over."""
        ticket = Ticket(key, work, question)
        self.enqueue(ticket)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(ticket.answer), self.limits.seconds)
        except TimeoutError:
            raise Refusal(
                504,
                f"this took longer than {self.limits.seconds:g} seconds and was cancelled. "
                "Use a shorter text, or fewer or faster methods.",
            ) from None

    def enqueue(self, ticket: Ticket[Any, Any]) -> None:
        """Put a ticket at the end of the queue."""
        with self.changed:
            if not self.is_open:
                raise Refusal(503, "the server is stopping. Try again when it is back.")
            self.queue = deque(each for each in self.queue if not each.answer.cancelled())
            if len(self.queue) >= self.limits.waiting:
                raise Refusal(
                    429,
                    f"{len(self.queue)} requests are waiting already. Try again in a few seconds.",
                    **{"Retry-After": "2"},
                )
            self.queue.append(ticket)
            self.changed.notify()

    def next_tickets(self) -> list[Ticket[Any, Any]]:
        """The first ticket that is still wanted, and later ones with its key; none when the worker closes."""
        with self.changed:
            while True:
                while self.queue and not self.queue[0].answer.set_running_or_notify_cancel():
                    self.queue.popleft()
                if self.queue:
                    break
                if not self.is_open:
                    return []
                self.changed.wait()
            first = self.queue.popleft()
            tickets = [first]
            for ticket in list(self.queue):
                if ticket.key == first.key and len(tickets) < self.limits.together:
                    self.queue.remove(ticket)
                    if ticket.answer.set_running_or_notify_cancel():
                        tickets.append(ticket)
            return tickets

    def serve(self) -> None:
        """Answer until the worker is closed and the queue is empty."""
        while tickets := self.next_tickets():
            try:
                answers = tickets[0].work([ticket.question for ticket in tickets])
                answered = list(zip(tickets, answers, strict=True))
            except Exception as error:  # noqa: BLE001 - any error is the answer to these tickets, and the thread must live on
                answered = [(ticket, error) for ticket in tickets]
            for ticket, answer in answered:
                if isinstance(answer, Exception):
                    ticket.answer.set_exception(answer)
                else:
                    ticket.answer.set_result(answer)

    def close(self) -> None:
        """Accept no more questions, answer the waiting ones, and end the thread."""
        with self.changed:
            self.is_open = False
            self.changed.notify_all()
        self.thread.join()
