"""`evaluate`: examples → attributions → measures, in a folder that a stopped run can be resumed from."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import torch

from headlight.data import read_examples
from headlight.data.example import Example
from headlight.errors import InvalidOption
from headlight.evaluation.cluster import run_cluster
from headlight.evaluation.estimate import Cost, estimate
from headlight.evaluation.folder import Folder, prepare_folder
from headlight.evaluation.given import Given, GivenAttribution, digests
from headlight.evaluation.local import run_local
from headlight.evaluation.plan import Job, jobs_of, plan
from headlight.evaluation.request import DEFAULT_METHODS, DEFAULT_METRICS, Request, has_of, prepare
from headlight.evaluation.results import Results, results_of
from headlight.evaluation.settings import Options, Settings
from headlight.loading.load import load
from headlight.loading.placement import DEFAULT_DTYPE
from headlight.metrics.case import METRICS, Metrics, requirements
from headlight.models.model import Model, Task
from headlight.progress import progress_of
from headlight.running.undisturbed import threads_as_found

DOING = {"explain": "explaining", "measure": "measuring", "time": "timing"}
"""What the progress bar shows for each kind of job."""


def evaluate(
    model: str | Model,
    data: str | Sequence[Example] | None = None,
    methods: Sequence[str] = DEFAULT_METHODS,
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    out: str | Path | None = None,
    limit: int | None = None,
    seed: int = 0,
    strict: bool = False,
    explain: Literal["predicted", "gold"] = "predicted",
    rivals: Sequence[str] = (),
    labels: Sequence[str] | None = None,
    options: Options | None = None,
    metric_settings: Metrics | None = None,
    variant: str = "paper",
    sanity: int = 32,
    shard: int = 64,
    threads: int | None = None,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    progress: bool = False,
    device: str | None = None,
    dtype: str = DEFAULT_DTYPE,
    attributions: Sequence[GivenAttribution] = (),
) -> Results:
    """Measure how far methods can be trusted, on a model and a data set.

    data: a name from DATASETS, NAME=FILE, a file with its columns (FILE:TEXT,LABEL), or a list of examples.
    metrics: names from METRICS. NAME@PROTOCOL follows a paper's protocol, such as aopc@mask_lrp.
    out: the folder of the run. A stopped run resumes there; methods and metrics can be added later. Without it
        nothing is kept on disk.
    limit: use this many examples, drawn at random with the seed.
    strict: stop at a row without a text instead of skipping it with a note.
    explain: 'predicted' explains the predicted class, 'gold' the right one.
    rivals: names of other models, for metrics that compare two models.
    labels: what the data's labels 0, 1 … mean, in order; by default the names that the data set has.
    options: options of methods. metric_settings: options of metrics, by metric.
    variant: 'paper' or 'released', that of methods whose names do not settle it, as "mask_lrp:variant=released"
        does. All methods explain the same prediction, which is made as this variant makes it.
    sanity: how many examples the slow metrics use. shard: examples per job. threads: threads per job.
    engine: 'local', or 'ray' for a cluster at `address`.
    attributions: explanations made elsewhere (`Attribution.from_scores`, `headlight.foreign`), or files of
        them, that are measured beside the methods, or instead of them with methods=(). Each needs one for every
        example; without data their texts are the examples.
    device, dtype: where and in which type models are loaded by their names, as in `load`. A run may be resumed
        on another device, but not in another type, which changes scores. Rivals have the type of the model.
    """
    request = Request(
        model, data, methods, metrics, out, limit, seed, strict, explain, rivals, labels, options or {},
        metric_settings or {}, variant, sanity, shard, threads, engine, address, progress, device, dtype,
        attributions,
    )  # fmt: skip
    return run(request)


def run(request: Request) -> Results:
    """Do the jobs of a request that are not done yet, and read the results."""
    ready, out = prepare(request), request.out
    with TemporaryDirectory(prefix="headlight-") if out is None else nullcontext(out) as path:
        folder = prepare_folder(
            path,
            ready.settings,
            ready.examples,
            ready.methods,
            ready.metrics,
            digests(ready.given),
        )
        check_all_given(folder, ready.given)
        with shown(folder, request.progress) as advance:
            if request.engine == "ray":
                run_cluster(folder, request.address, advance, request.device, ready.given)
            else:
                run_local(folder, ready.models, advance, ready.given)
        folder.remove_leftovers()
        return results_of(folder, is_kept=out is not None)


def check_all_given(folder: Folder, given: Given) -> None:
    """Refuse to go on with a run whose given scores are neither all in its folder nor given again."""
    for job in folder.missing():
        for method in job.methods:
            if job.kind == "explain" and method in folder.manifest.given and method not in given:
                raise InvalidOption(
                    f"the scores of '{method}' were given to the run in '{folder.path}', and not all of them "
                    "are there yet. Give them again: attributions=."
                )


def preview(request: Request) -> tuple[list[Job], Cost, Settings]:
    """The jobs of a run and an estimate of their cost, from a small piece that is actually run."""
    ready = prepare(request)
    with threads_as_found():
        torch.set_num_threads(ready.settings.threads)
        cost = estimate(
            ready.settings, ready.models, ready.examples, ready.methods, ready.metrics, ready.given
        )
    rounds = plan(ready.methods, ready.metrics, given=ready.given)
    return jobs_of(ready.settings, rounds), cost, ready.settings


def fitting_metrics(model: str | Model, data: str | None) -> list[str]:
    """All metrics whose needs a model and a data set meet, except those that compare two models.

    Without data, those that bare texts meet.
    """
    loaded = load(model) if isinstance(model, str) else model
    task = loaded.task
    has = has_of([] if data is None else read_examples(data, tell=lambda _note: None)[0])
    classes = task in (Task.SEQUENCE, Task.TOKEN)
    has |= {"corpus": classes, "runner_up": classes, "rival": False}
    has["probability"] = task is not Task.REGRESSION
    has["one_reading"] = not loaded.is_encoder_decoder
    has["gold"] = has["gold"] and classes
    return [n for n in METRICS if all(has.get(need, True) for need in requirements(METRICS[n]))]


@contextmanager
def shown(folder: Folder, is_shown: bool) -> Iterator[Callable[[Job], object]]:
    """A function to call with every finished job; it shows how many examples are done."""
    total = sum(job.last - job.first for job in folder.missing()) if is_shown else 0
    with progress_of("evaluating", total, is_shown=is_shown, unit="examples") as advance:
        yield lambda job: advance(job.last - job.first, DOING[job.kind])
