"""Runs the jobs of a folder in this process; several processes may work on one folder."""

import time
from collections.abc import Callable, Mapping, Sequence

import torch

from headlight.data.example import Example
from headlight.evaluation.attribute import explain_shard
from headlight.evaluation.folder import Folder
from headlight.evaluation.given import NOTHING, Given
from headlight.evaluation.measure import measure_shard, time_shard
from headlight.evaluation.parts import to_part
from headlight.evaluation.plan import Job
from headlight.evaluation.queue import Queue
from headlight.evaluation.records import (
    AttributionRecord,
    Record,
    attribution_records,
    concatenated,
    table,
)
from headlight.evaluation.settings import Settings
from headlight.models.model import Model
from headlight.running.undisturbed import threads_as_found

PAUSE = 0.2
"""Seconds to wait before asking again for jobs that another process is doing."""


def run_local(
    folder: Folder,
    models: Callable[[str], Model],
    advance: Callable[[Job], object],
    given: Given = NOTHING,
) -> None:
    """Do all unfinished jobs; wait for those that other processes are doing."""
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
                    folder.write(job, part_of(job, folder.settings, models, chosen, known, given))
            queue.finish(job)
            advance(job)


def part_of(
    job: Job,
    settings: Settings,
    models: Callable[[str], Model],
    examples: Mapping[int, Example],
    known: Sequence[AttributionRecord],
    given: Given = NOTHING,
) -> bytes:
    """Run a job and give its part as bytes.

    known: the attributions that a measuring job needs. given: those that are not computed.
    """
    torch.set_num_threads(settings.threads)
    model = models(settings.model)
    found: Sequence[Record]
    if job.kind == "explain":
        found = explain_shard(job.methods, job.roles, settings, models, examples, given)
    elif job.kind == "measure":
        found = measure_shard(job.methods, job.metrics, model, examples, known)
    else:
        found = time_shard(job.methods, job.metrics, settings, model, examples)
    return to_part(table(job.kind, found))


def attributions_of(folder: Folder, job: Job) -> list[AttributionRecord]:
    """The attributions that a measuring job needs; none for other jobs."""
    if job.kind != "measure":
        return []
    return attribution_records(
        concatenated("explain", folder.tables(("explain",), shard=job.shard))
    )
