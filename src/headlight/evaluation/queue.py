"""`Queue`: unfinished jobs; each is handed out when the jobs it depends on are finished."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable

from headlight.evaluation.plan import Job


class Queue:
    """Jobs in order; a shard is measured after all jobs that explain it.

    The work per job is constant, however many jobs there are.
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
        """The next job that can run; None if all jobs wait for others."""
        return self.ready.popleft() if self.ready else None

    def postpone(self, job: Job) -> None:
        """Put aside a job that another process is doing."""
        self.busy.append(job)

    def retry(self) -> None:
        """Offer postponed jobs again: the other process may have finished them or died."""
        self.ready.extend(self.busy)
        self.busy.clear()

    def finish(self, job: Job) -> None:
        """Mark a job as finished, and release the jobs that waited for it."""
        self.count -= 1
        if job.kind == "explain":
            self.explaining[job.shard] -= 1
            if not self.explaining[job.shard]:
                self.ready.extend(self.held.pop(job.shard, []))
