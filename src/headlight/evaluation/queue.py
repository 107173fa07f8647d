"""`Queue`: unfinished jobs, each handed out once what it builds on is finished."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable

from headlight.evaluation.plan import Job


class Queue:
    """Jobs in their order; a shard is measured when all that explains it is finished.

    Every job is looked at a fixed number of times, however many there are.
    """

    def __init__(self, jobs: Iterable[Job]) -> None:
        unfinished = list(jobs)
        self.count = len(unfinished)
        self.explaining = Counter(job.shard for job in unfinished if job.kind == "explain")
        self.ready: deque[Job] = deque()
        self.busy: deque[Job] = deque()
        self.held: defaultdict[int, list[Job]] = defaultdict(list)
        for job in unfinished:
            waits = job.kind == "measure" and self.explaining[job.shard] > 0
            (self.held[job.shard] if waits else self.ready).append(job)

    def __len__(self) -> int:
        return self.count

    def take(self) -> Job | None:
        """The next job that can be done; None if all of them wait."""
        return self.ready.popleft() if self.ready else None

    def postpone(self, job: Job) -> None:
        """Put aside a job that another process is doing."""
        self.busy.append(job)

    def retry(self) -> None:
        """Offer the jobs again that others were doing: they may be finished, or given up."""
        self.ready.extend(self.busy)
        self.busy.clear()

    def finish(self, job: Job) -> None:
        """Note that a job is finished; what waited for it may be done."""
        self.count -= 1
        if job.kind == "explain":
            self.explaining[job.shard] -= 1
            if not self.explaining[job.shard]:
                self.ready.extend(self.held.pop(job.shard, []))
