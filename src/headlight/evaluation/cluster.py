"""Runs the jobs of a folder on a Ray cluster, with the same results. Workers compute, this process writes."""

import socket
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

from headlight.data.example import Example
from headlight.errors import HeadlightError, InvalidInput, missing_extra
from headlight.evaluation.folder import Folder
from headlight.evaluation.given import NOTHING, Given, given_in
from headlight.evaluation.local import attributions_of, part_of
from headlight.evaluation.plan import Job
from headlight.evaluation.queue import Queue
from headlight.evaluation.records import AttributionRecord
from headlight.evaluation.settings import Settings
from headlight.loading.load import load

RETRIES = 5
"""How often a job is given to another worker when its worker dies."""
loaded = cache(load)
"""Loads a model by name, device and type, once per worker."""


def do(
    job: Job,
    settings: Settings,
    examples: Mapping[int, Example],
    known: Sequence[AttributionRecord],
    device: str | None = None,
    given: Given = NOTHING,
) -> bytes | HeadlightError:
    """Run a job in a worker, with models on this device: its part, or the error that stopped it."""
    models = partial(loaded, device=device, dtype=settings.dtype)
    # Returned, not raised: Ray would wrap the error, and a user would read a traceback of the worker.
    try:
        return part_of(job, settings, models, examples, known, given)
    except HeadlightError as error:
        return error


def run_cluster(
    folder: Folder,
    address: str | None,
    advance: Callable[[Job], object],
    device: str | None = None,
    given: Given = NOTHING,
) -> None:
    """Do all unfinished jobs, as many at once as the cluster has room for."""
    try:
        ray = import_module("ray")
    except ImportError as error:
        raise missing_extra("ray", "cluster", "--engine ray") from error
    is_ours = not ray.is_initialized()
    if is_ours:
        check_address(address)
        try:
            ray.init(address=address, log_to_driver=False, include_dashboard=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InvalidInput(f"no Ray cluster answers at '{address}': {error}.") from error
    try:
        schedule(ray, folder, advance, device, given)
    finally:
        if is_ours:
            ray.shutdown()


def check_address(address: str | None) -> None:
    """Refuse an address where nothing listens; Ray itself would retry for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not port.isdigit():
        return
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise InvalidInput(
            f"no Ray cluster answers at '{address}': {error.strerror or error}. Start one with "
            "'ray start --head', or leave --address out."
        ) from error


def schedule(
    ray: Any,
    folder: Folder,
    advance: Callable[[Job], object],
    device: str | None = None,
    given: Given = NOTHING,
) -> None:
    """Hand out jobs as they become ready, and store their results."""
    remote = ray.remote(max_retries=RETRIES, num_cpus=folder.settings.threads)(do)
    # Twice the workers, so that each finds its next job waiting while this process writes.
    room = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)) // folder.settings.threads)
    examples, queue = folder.examples, Queue(folder.missing())
    running: dict[Any, Job] = {}
    while queue:
        while len(running) < room and (job := queue.take()):
            chosen = {n: examples[n] for n in range(job.first, job.last)}
            known = attributions_of(folder, job)
            own = given_in(given, job.methods, chosen.values())
            handle = remote.remote(job, folder.settings, chosen, known, device, own)
            running[handle] = job
        (handle, *_), _ = ray.wait(list(running))
        job = running.pop(handle)
        keep(folder, job, result_of(ray, job, handle))
        queue.finish(job)
        advance(job)


def result_of(ray: Any, job: Job, handle: Any) -> bytes:
    """The part that a worker sent back; its error is raised here."""
    try:
        found: bytes | HeadlightError = ray.get(handle)
    except ray.exceptions.WorkerCrashedError as error:
        raise InvalidInput(
            f"the job '{job.name}' lost {RETRIES + 1} workers, perhaps because memory ran out. Finished jobs "
            "are kept; start again with smaller shards or fewer workers."
        ) from error
    if isinstance(found, HeadlightError):
        raise found
    return found


def keep(folder: Folder, job: Job, found: bytes) -> None:
    """Write a part, unless another process on the same folder has written it in the meantime."""
    with folder.locked(job.name, waits=True):
        if not folder.is_done(job):
            folder.write(job, found)
