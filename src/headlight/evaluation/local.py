"""The jobs of a folder in this process; several processes may work on one folder."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from headlight.evaluation.folder import Folder
from headlight.evaluation.settings import Job
from headlight.evaluation.tables import Record, table, to_bytes
from headlight.evaluation.work import work
from headlight.models.model import Model

PAUSE = 0.2
"""Seconds between two looks at jobs that another process is doing."""


def run_local(
    folder: Folder, models: Callable[[str], Model], advance: Callable[[Job], None]
) -> None:
    """Do what is not done; wait for what others are doing."""
    examples = folder.examples
    waiting = folder.missing()
    with threads_as_found():
        while waiting:
            before = len(waiting)
            for job in list(waiting):
                if not folder.is_done(job) and is_ready(folder, job):
                    with folder.locked(job.name) as is_ours:
                        if is_ours and not folder.is_done(job):
                            chosen = {n: examples[n] for n in range(job.first, job.last)}
                            known = attributions_of(folder, job)
                            found = work(job, folder.settings, models, chosen, known)
                            folder.write(job, to_bytes(table(job.kind, found)))
                if folder.is_done(job):
                    waiting.remove(job)
                    advance(job)
            if len(waiting) == before:
                time.sleep(PAUSE)


def is_ready(folder: Folder, job: Job) -> bool:
    """Whether all that a job builds on is there."""
    if job.kind != "measure":
        return True
    return all(
        folder.is_done(other)
        for other in folder.jobs
        if other.kind == "explain" and other.shard == job.shard
    )


def attributions_of(folder: Folder, job: Job) -> list[Record]:
    """The attributions that a job measures."""
    if job.kind != "measure":
        return []
    return list(folder.read(("explain",), job.shard).to_pylist())


@contextmanager
def threads_as_found() -> Iterator[None]:
    """Jobs set the number of threads; afterwards it is what it was."""
    count = torch.get_num_threads()
    try:
        yield
    finally:
        torch.set_num_threads(count)
