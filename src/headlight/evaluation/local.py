"""The jobs of a folder in this process; several processes may work on one folder."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from headlight.evaluation.folder import Folder
from headlight.evaluation.parts import to_part
from headlight.evaluation.plan import Job
from headlight.evaluation.queue import Queue
from headlight.evaluation.records import AttributionRecord, attribution_records, table
from headlight.evaluation.work import work
from headlight.models.model import Model

PAUSE = 0.2
"""Seconds between two looks at jobs that another process is doing."""


def run_local(
    folder: Folder, models: Callable[[str], Model], advance: Callable[[Job], object]
) -> None:
    """Do what is not done; wait for what others are doing."""
    examples, queue = folder.examples, Queue(folder.missing())
    with threads_as_found():
        while queue:
            job = queue.take()
            if job is None:
                time.sleep(PAUSE)
                queue.retry()
                continue
            with folder.locked(job.name) as is_ours:
                if not is_ours:
                    queue.postpone(job)
                    continue
                if not folder.is_done(job):
                    chosen = {n: examples[n] for n in range(job.first, job.last)}
                    known = attributions_of(folder, job)
                    found = work(job, folder.settings, models, chosen, known)
                    folder.write(job, to_part(table(job.kind, found)))
            queue.finish(job)
            advance(job)


def attributions_of(folder: Folder, job: Job) -> list[AttributionRecord]:
    """The attributions that a job measures."""
    if job.kind != "measure":
        return []
    return attribution_records(folder.read(("explain",), job.shard))


@contextmanager
def threads_as_found() -> Iterator[None]:
    """Jobs set the number of threads; afterwards it is what it was."""
    count = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(count)
