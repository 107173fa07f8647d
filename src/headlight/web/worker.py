"""`Desk`: one thread that answers requests in their order; those that ask alike share a pass."""

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Condition, Thread
from typing import Any

from headlight.web.limits import Limits, Refusal

Work = Callable[[Sequence[Any]], Sequence[Any]]
"""Answers several questions of one kind, in their order; an answer may be an exception."""


@dataclass(frozen=True, eq=False)
class Job:
    """A question, the work that answers it, and the key that jobs share whose questions go together."""

    key: Hashable
    work: Work
    question: Any
    answer: Future[Any] = field(default_factory=Future)


class Desk:
    """A queue of bounded length before one worker.

    A job whose asker has gone, or whose time is over, is passed over; one that has begun is finished.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.queue: deque[Job] = deque()
        self.changed = Condition()
        self.is_open = True
        self.worker = Thread(target=self.serve, name="headlight-desk", daemon=True)
        self.worker.start()

    async def ask(self, key: Hashable, work: Work, question: Any) -> Any:
        """The answer to one question, or a refusal where the queue is full or time is over."""
        job = Job(key, work, question)
        self.enqueue(job)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(job.answer), self.limits.seconds)
        except TimeoutError:
            raise Refusal(
                504,
                f"this took longer than {self.limits.seconds:g} seconds and was given up. "
                "Ask for a shorter text, or for fewer or faster methods.",
            ) from None

    def enqueue(self, job: Job) -> None:
        """Put a job at the end of the queue."""
        with self.changed:
            if not self.is_open:
                raise Refusal(503, "the server is stopping. Ask again when it is back.")
            self.queue = deque(each for each in self.queue if not each.answer.cancelled())
            if len(self.queue) >= self.limits.waiting:
                raise Refusal(
                    429,
                    f"{len(self.queue)} requests are waiting already. Ask again in a few seconds.",
                    **{"Retry-After": "2"},
                )
            self.queue.append(job)
            self.changed.notify()

    def next_jobs(self) -> list[Job]:
        """The first job that is still wanted, with those behind it that share its key; none at the end."""
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
            found = [first]
            for job in list(self.queue):
                if job.key == first.key and len(found) < self.limits.together:
                    self.queue.remove(job)
                    if job.answer.set_running_or_notify_cancel():
                        found.append(job)
            return found

    def serve(self) -> None:
        """Answer until the desk is closed and the queue is empty."""
        while jobs := self.next_jobs():
            try:
                answers = jobs[0].work([job.question for job in jobs])
                answered = list(zip(jobs, answers, strict=True))
            except Exception as error:  # noqa: BLE001 - whatever went wrong is the answer to these jobs
                answered = [(job, error) for job in jobs]
            for job, answer in answered:
                if isinstance(answer, Exception):
                    job.answer.set_exception(answer)
                else:
                    job.answer.set_result(answer)

    def close(self) -> None:
        """Take nothing more, answer what is waiting, and end."""
        with self.changed:
            self.is_open = False
            self.changed.notify_all()
        self.worker.join()
