"""`Request`: all that a call of `evaluate` asks for; `Prepared`: the same, once it is known to be possible."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import torch

from headlight.data import drawn, read_examples
from headlight.data.example import Example, is_matched
from headlight.errors import InvalidInput, InvalidOption, unknown_name
from headlight.evaluation.folder import data_hash
from headlight.evaluation.plan import Metrics
from headlight.evaluation.predictions import gold_of
from headlight.evaluation.settings import Options, Settings
from headlight.explaining.batches import installed_versions
from headlight.explaining.plan import planned
from headlight.files import say
from headlight.loading.load import load
from headlight.metrics import METRICS
from headlight.metrics.case import metric_of, requirements
from headlight.models.fingerprint import fingerprint
from headlight.models.model import Model, Task
from headlight.text import is_blank

DEFAULT_METHODS = (
    "random", "raw_attention", "rollout", "input_x_gradient", "gae", "transformer_attribution", "attcat",
    "alti", "attn_lrp",
)  # fmt: skip
"""Quick ones that every known family has, with nothing to be learned or given."""
DEFAULT_METRICS = ("aopc", "log_odds", "comprehensiveness", "sufficiency")


@dataclass(frozen=True, eq=False)
class Request:
    """All that a call of `evaluate` asks for; what each field means is said there."""

    model: str | Model
    data: str | Sequence[Example]
    methods: Sequence[str] = DEFAULT_METHODS
    metrics: Sequence[str] = DEFAULT_METRICS
    out: str | Path | None = None
    limit: int | None = None
    seed: int = 0
    strict: bool = False
    explain: Literal["predicted", "gold"] = "predicted"
    rivals: Sequence[str] = ()
    labels: Sequence[str] | None = None
    options: Options = field(default_factory=dict)
    metric_settings: Metrics = field(default_factory=dict)
    variant: str = "paper"
    sanity: int = 32
    shard: int = 64
    threads: int | None = None
    engine: Literal["local", "ray"] = "local"
    address: str | None = None
    progress: bool = False


@dataclass(frozen=True, eq=False)
class Prepared:
    """A request that is known to be possible. models: gives models by name, each loaded once."""

    settings: Settings
    examples: list[Example]
    methods: tuple[str, ...]
    metrics: Metrics
    models: Callable[[str], Model]


def prepare(request: Request) -> Prepared:
    """Load the model, read the data, and refuse what cannot work before hours are spent on it."""
    check_engine(request)
    metrics = metric_options(request.metrics, request.metric_settings)
    models = loader(request.model)
    name = request.model if isinstance(request.model, str) else request.model.name
    model = models(name)
    examples, names = examples_of(request)
    settings = Settings(
        model=name,
        fingerprint=fingerprint(model),
        data=request.data if isinstance(request.data, str) else f"{len(request.data)} examples",
        data_hash=data_hash(examples),
        count=len(examples),
        labels=tuple(names if request.labels is None else request.labels),
        limit=request.limit,
        seed=request.seed,
        explain=request.explain,
        variant=request.variant,
        rivals=tuple(request.rivals),
        options=dict(request.options),
        sanity=request.sanity,
        shard=request.shard,
        threads=request.threads or default_threads(request.engine),
        versions=dict(installed_versions()),
    )
    check(model, settings, request.methods, metrics)
    check_examples(model, settings, examples, metrics)
    return Prepared(settings, examples, tuple(request.methods), metrics, models)


def check_engine(request: Request) -> None:
    """Refuse an engine that does not exist, or that cannot have this model."""
    if request.engine not in ("local", "ray"):
        raise InvalidOption(f"engine='{request.engine}' does not exist. Use 'local' or 'ray'.")
    if request.engine == "ray" and isinstance(request.model, Model):
        raise InvalidOption(
            "workers of a cluster load the model themselves: give its name or folder, not the model."
        )


def check(model: Model, settings: Settings, methods: Sequence[str], metrics: Metrics) -> None:
    """Refuse settings and methods that cannot work on the model."""
    if not methods or not metrics:
        raise InvalidOption("give at least one method and one metric.")
    if settings.explain not in ("predicted", "gold"):
        raise InvalidOption(
            f"explain='{settings.explain}' is not possible. Use 'predicted' or 'gold'."
        )
    if settings.shard < 1 or settings.sanity < 1:
        raise InvalidOption("shard and sanity must be 1 or more.")
    planned(model, list(methods), settings.variant, settings.options, 1, False)


def check_examples(
    model: Model, settings: Settings, examples: Sequence[Example], metrics: Iterable[str]
) -> None:
    """Refuse labels that the model does not have, and metrics that need what is not there."""
    if model.task in (Task.SEQUENCE, Task.TOKEN):
        check_labels(model, settings, examples)
    has = has_of(examples) | {
        "rival": bool(settings.rivals),
        "probability": model.task is not Task.REGRESSION,
    }
    for name in metrics:
        for need, meaning in requirements(metric_of(name)).items():
            if not has.get(need, True):
                raise InvalidOption(
                    f"metric '{name}' needs {meaning}, which {settings.model} on '{settings.data}' does "
                    "not have. Leave the metric out, or give what it needs."
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


def examples_of(request: Request) -> tuple[list[Example], tuple[str, ...]]:
    """The examples and the names of their labels; those of a list are drawn like those of a file."""
    data, limit, seed = request.data, request.limit, request.seed
    if isinstance(data, str):
        return read_examples(data, limit=limit, seed=seed, strict=request.strict)
    if not data:
        raise InvalidInput("the list of examples is empty: there is nothing to evaluate.")
    blank = [number for number, example in enumerate(data) if is_blank(example.text)]
    if request.strict and blank:
        raise InvalidInput(f"example {blank[0]} has no text. Leave it out, or read without strict.")
    return [data[number] for number in drawn(len(data), limit, seed)], ()


def metric_options(names: Sequence[str], given: Metrics) -> Metrics:
    """The metrics of a run with their options; NAME@PROTOCOL asks for a paper's protocol.

    given: further options by NAME or NAME@PROTOCOL.
    """
    found: dict[str, Options] = {}
    for asked in names:
        name, _, protocol = asked.partition("@")
        entry = METRICS[name]
        own = dict(given.get(asked, given.get(name, {})))
        if protocol:
            own["protocol"] = protocol
        own = {option: entry.checked(option, value) for option, value in own.items()}
        found[f"{entry.name}@{protocol}" if protocol else entry.name] = own
    for name in given:
        if name not in names and name not in found:
            raise unknown_name("metric of this run", name, found)
    return found
