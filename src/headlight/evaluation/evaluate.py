"""`evaluate`: examples → attributions → measures, in a folder that can be left and taken up again."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from headlight.data import drawn, read_examples
from headlight.data.example import Example, is_matched
from headlight.errors import InvalidInput, InvalidOption
from headlight.evaluation.cluster import run_cluster
from headlight.evaluation.estimate import Cost, estimate
from headlight.evaluation.folder import Folder, data_hash, prepare_folder
from headlight.evaluation.local import run_local, threads_as_found
from headlight.evaluation.predictions import gold_of
from headlight.evaluation.results import Results, results_of
from headlight.evaluation.settings import Job, Settings, metric_options, plan
from headlight.explaining.batches import installed_versions
from headlight.explaining.plan import planned
from headlight.files import say
from headlight.loading.load import load
from headlight.metrics import METRICS
from headlight.metrics.case import NEEDS, metric_of
from headlight.models.fingerprint import fingerprint
from headlight.models.model import Model, Task
from headlight.progress import progress_of
from headlight.text import is_blank

DEFAULT_METHODS = (
    "random", "raw_attention", "rollout", "input_x_gradient", "gae", "transformer_attribution", "attcat",
    "alti", "attn_lrp",
)  # fmt: skip
"""Quick ones that every known family has, with nothing to be learned or given."""
DEFAULT_METRICS = ("aopc", "log_odds", "comprehensiveness", "sufficiency")


def evaluate(
    model: str | Model,
    data: str | Sequence[Example],
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
    options: Mapping[str, Any] | None = None,
    metric_settings: Mapping[str, Mapping[str, Any]] | None = None,
    variant: str = "paper",
    sanity: int = 32,
    shard: int = 64,
    threads: int | None = None,
    engine: Literal["local", "ray"] = "local",
    address: str | None = None,
    progress: bool = False,
) -> Results:
    """Measure how far methods can be trusted on a model and a data set.

    data: a name of DATASETS, NAME=FILE, a file with its columns (FILE:TEXT,LABEL), or examples.
    metrics: names of METRICS; NAME@PROTOCOL follows a paper's protocol, such as aopc@mask_lrp.
    out: the folder of the run. A run that was stopped goes on where it was; methods and metrics can be
        added later. Without it nothing is kept on disk.
    limit: so many examples, drawn at random by the seed from a file, a data set or a list alike.
    strict: stop at a row without a text instead of skipping it and saying which.
    explain: the predicted class, or the right one.
    rivals: other models, for the metrics that hold two models against each other.
    options: options of methods. metric_settings: options of metrics, by name.
    """
    if engine not in ("local", "ray"):
        raise InvalidOption(f"engine='{engine}' does not exist. Use 'local' or 'ray'.")
    if engine == "ray" and isinstance(model, Model):
        raise InvalidOption(
            "workers of a cluster load the model themselves: give its name or folder, not the model."
        )
    asked = metric_options(metrics, metric_settings or {})
    models = loader(model)
    settings, examples = prepared(
        model, data, methods, asked, models, limit=limit, seed=seed, strict=strict, explain=explain,
        rivals=tuple(rivals), labels=labels, options=dict(options or {}), variant=variant,
        sanity=sanity, shard=shard, threads=threads or default_threads(engine),
    )  # fmt: skip
    with place(out) as path:
        folder = prepare_folder(path, settings, examples, methods, asked)
        with shown(folder, progress) as advance:
            if engine == "ray":
                run_cluster(folder, address, advance)
            else:
                run_local(folder, models, advance)
        folder.remove_leftovers()
        return results_of(folder, is_kept=out is not None)


def preview(
    model: str | Model,
    data: str | Sequence[Example],
    methods: Sequence[str] = DEFAULT_METHODS,
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    metric_settings: Mapping[str, Mapping[str, Any]] | None = None,
    threads: int | None = None,
    **others: Any,
) -> tuple[list[Job], Cost, Settings]:
    """The jobs of a run and what they would cost, from a small piece that is really run."""
    asked = metric_options(metrics, metric_settings or {})
    models = loader(model)
    settings, examples = prepared(
        model, data, methods, asked, models, threads=threads or default_threads("local"), **others
    )
    with threads_as_found():
        torch.set_num_threads(settings.threads)
        cost = estimate(settings, models, examples, methods, asked)
    return plan(settings, methods, asked)[0], cost, settings


def prepared(
    model: str | Model,
    data: str | Sequence[Example],
    methods: Sequence[str],
    metrics: Mapping[str, Mapping[str, Any]],
    models: Callable[[str], Model],
    *,
    labels: Sequence[str] | None,
    limit: int | None,
    seed: int,
    strict: bool = False,
    **others: Any,
) -> tuple[Settings, list[Example]]:
    """The settings and examples of a run, refused if it cannot work."""
    name = model if isinstance(model, str) else model.name
    own = models(name)
    examples, names = examples_of(data, limit, seed, strict)
    settings = Settings(
        model=name,
        fingerprint=fingerprint(own),
        data=data if isinstance(data, str) else f"{len(data)} examples",
        data_hash=data_hash(examples),
        count=len(examples),
        labels=tuple(names if labels is None else labels),
        limit=limit,
        seed=seed,
        versions=dict(installed_versions()),
        **others,
    )
    check(own, settings, examples, methods, metrics)
    return settings, examples


def fitting_metrics(model: str, data: str) -> list[str]:
    """All metrics for which a model and a data set have what they need, but those of two models."""
    task = load(model).task
    examples, _ = read_examples(data, tell=lambda _note: None)
    has = has_of(examples)
    classes = task in (Task.SEQUENCE, Task.TOKEN)
    has |= {"corpus": classes, "runner_up": classes, "rivals": False}
    has["probability"] = task is not Task.REGRESSION
    has["gold"] = has["gold"] and classes
    return [name for name in METRICS if all(has.get(need, True) for need in METRICS[name].needs)]


def has_of(examples: Sequence[Example]) -> dict[str, bool]:
    """What examples bring that metrics need."""
    return {
        "gold": any(example.label is not None for example in examples),
        "marks": any(example.marks is not None for example in examples),
        "answers": any(example.answers for example in examples),
    }


def loader(model: str | Model) -> Callable[[str], Model]:
    """What gives models by name, each loaded once."""
    known = {} if isinstance(model, str) else {model.name: model}

    def models(name: str) -> Model:
        if name not in known:
            known[name] = load(name)
        return known[name]

    return models


def default_threads(engine: str) -> int:
    """All threads for one process; one for each of many."""
    return torch.get_num_threads() if engine == "local" else 1


def examples_of(
    data: str | Sequence[Example], limit: int | None, seed: int, strict: bool
) -> tuple[list[Example], tuple[str, ...]]:
    """The examples and the names of their labels; those of a list are drawn like those of a file."""
    if isinstance(data, str):
        return read_examples(data, limit=limit, seed=seed, strict=strict)
    if not data:
        raise InvalidInput("the list of examples is empty: there is nothing to evaluate.")
    blank = [number for number, example in enumerate(data) if is_blank(example.text)]
    if strict and blank:
        raise InvalidInput(f"example {blank[0]} has no text. Leave it out, or read without strict.")
    return [data[number] for number in drawn(len(data), limit, seed)], ()


@contextmanager
def place(out: str | Path | None) -> Iterator[Path]:
    """The folder of a run, or one that is gone afterwards."""
    if out is not None:
        yield Path(out)
        return
    with TemporaryDirectory(prefix="headlight-") as path:
        yield Path(path)


def check(
    model: Model,
    settings: Settings,
    examples: Sequence[Example],
    methods: Sequence[str],
    metrics: Mapping[str, Mapping[str, Any]],
) -> None:
    """Refuse what cannot work before hours are spent on it."""
    if not methods or not metrics:
        raise InvalidOption("give at least one method and one metric.")
    if settings.explain not in ("predicted", "gold"):
        raise InvalidOption(
            f"explain='{settings.explain}' is not possible. Use 'predicted' or 'gold'."
        )
    if settings.shard < 1 or settings.sanity < 1:
        raise InvalidOption("shard and sanity must be 1 or more.")
    planned(model, list(methods), settings.variant, settings.options, 1, False)
    if model.task in (Task.SEQUENCE, Task.TOKEN):
        check_labels(model, settings, examples)
    has = has_of(examples) | {
        "rivals": bool(settings.rivals),
        "probability": model.task is not Task.REGRESSION,
    }
    for name in metrics:
        for need in metric_of(name).needs:
            if not has.get(need, True):
                raise InvalidOption(
                    f"metric '{name}' needs {NEEDS[need]}, which {settings.model} on '{settings.data}' has not."
                )


def check_labels(model: Model, settings: Settings, examples: Sequence[Example]) -> None:
    """Refuse a label that the model does not have, and say which were matched to another name."""
    matched = []
    for example in {repr(each.label): each for each in reversed(examples)}.values():
        found = gold_of(model, settings, example)
        if example.label is not None and found is not None:
            name = model.labels[found]
            if is_matched(example.label, settings.labels, name):
                matched.append(f"{example.label} → {name}")
    if matched:
        say(f"labels of the data that the model calls otherwise: {', '.join(sorted(matched))}.")


@contextmanager
def shown(folder: Folder, is_shown: bool) -> Iterator[Callable[[Job], object]]:
    """A bar on standard error that counts examples, with rate and time left; without a terminal, lines."""
    total = sum(job.last - job.first for job in folder.missing()) if is_shown else 0
    if not is_shown or not sys.stderr.isatty():
        with progress_of("evaluating", total, is_shown=is_shown) as count:
            yield lambda job: count(job.last - job.first)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        TextColumn("{task.fields[rate]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("starting", total=total, rate="")
        words = {"explain": "explaining", "measure": "measuring", "time": "timing"}

        def advance(job: Job) -> None:
            bar.advance(task, job.last - job.first)
            speed = bar.tasks[0].speed
            rate = f"{speed:.1f} examples/s" if speed else ""
            bar.update(task, description=words[job.kind], rate=rate)

        yield advance
