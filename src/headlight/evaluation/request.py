"""`Request`: everything that a call of `evaluate` asks for; `Prepared`: a request that was checked."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

import torch

from headlight.data import drawn, read_examples
from headlight.data.example import Example, is_matched
from headlight.errors import InvalidInput, InvalidOption
from headlight.evaluation.folder import data_hash
from headlight.evaluation.given import (
    NOTHING,
    Given,
    GivenAttribution,
    check_given,
    given_examples,
    given_of,
)
from headlight.evaluation.predictions import gold_of
from headlight.evaluation.settings import Options, Settings
from headlight.explaining.ablated import calls_of, is_ablation
from headlight.explaining.batches import installed_versions
from headlight.explaining.continuation import check_writes
from headlight.explaining.plan import planned
from headlight.files import say
from headlight.loading.load import load
from headlight.loading.placement import DEFAULT_DTYPE
from headlight.metrics.case import Metrics, metric_of, metric_options, requirements
from headlight.models.fingerprint import fingerprint
from headlight.models.model import Model, Task
from headlight.text import is_blank

DEFAULT_METHODS = (
    "random", "raw_attention", "rollout", "input_x_gradient", "gae", "transformer_attribution", "attcat",
    "alti", "attn_lrp",
)  # fmt: skip
"""Quick methods that work on every known family without a learned mask or decoder."""
DEFAULT_METRICS = ("aopc", "log_odds", "comprehensiveness", "sufficiency")


@dataclass(frozen=True, eq=False)
class Request:
    """Everything that a call of `evaluate` asks for; `evaluate` documents the fields."""

    model: str | Model
    data: str | Sequence[Example] | None
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
    device: str | None = None
    dtype: str = DEFAULT_DTYPE
    attributions: Sequence[GivenAttribution] = ()

    def __post_init__(self) -> None:
        if self.engine not in ("local", "ray"):
            raise InvalidOption(f"engine='{self.engine}' does not exist. Use 'local' or 'ray'.")
        if self.engine == "ray" and isinstance(self.model, Model):
            raise InvalidOption(
                "the workers of a cluster load the model themselves. Give its name or folder."
            )
        if isinstance(self.model, Model) and (self.device, self.dtype) != (None, DEFAULT_DTYPE):
            raise InvalidOption(
                "device= and dtype= are for a model that is given by its name. Load it with them: "
                "headlight.load(name, device=…, dtype=…)."
            )
        if not (self.methods or self.attributions) or not self.metrics:
            raise InvalidOption(
                "there is nothing to evaluate. Give at least one method and one metric."
            )
        if self.data is None and not self.attributions:
            raise InvalidOption(
                "there is no data to evaluate on. Give data=, or attributions=, whose texts are then the data."
            )
        if self.explain not in ("predicted", "gold"):
            raise InvalidOption(
                f"explain='{self.explain}' is not possible. Use 'predicted' or 'gold'."
            )
        if self.shard < 1 or self.sanity < 1:
            raise InvalidOption("shard and sanity must be 1 or more.")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A request that was checked. models: gives models by name, and loads each once.

    given: attributions that are measured and not computed.
    """

    settings: Settings
    examples: list[Example]
    methods: tuple[str, ...]
    metrics: Metrics
    models: Callable[[str], Model]
    given: Given = field(default_factory=dict)


def prepare(request: Request) -> Prepared:
    """Load the model, read the data, and refuse what cannot work before time is spent on it."""
    metrics = metric_options(request.metrics, request.metric_settings)
    models = loader(request)
    name = request.model if isinstance(request.model, str) else request.model.name
    model = models(name)
    given = given_of(model, request.attributions)
    examples, names = examples_of(request, given)
    settings = Settings(
        model=name,
        fingerprint=fingerprint(model),
        data=data_name(request.data, len(examples)),
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
        threads=request.threads or (1 if request.engine == "ray" else torch.get_num_threads()),
        versions=dict(installed_versions()),
        dtype=dtype_of(model),
    )
    check_methods(model, settings, request.methods)
    check_examples(model, settings, examples, metrics)
    check_ablations(request.methods, examples, metrics)
    check_given(given, examples, metrics)
    return Prepared(settings, examples, tuple(request.methods), metrics, models, given)


def data_name(data: str | Sequence[Example] | None, count: int) -> str:
    """What reports call the data; without any, there are that many texts of given attributions."""
    if data is None:
        return f"{count} given texts"
    return data if isinstance(data, str) else f"{len(data)} examples"


def check_methods(model: Model, settings: Settings, methods: Sequence[str]) -> None:
    """Refuse methods and options that do not exist, or do not fit the model."""
    if not methods:
        return
    calls = calls_of(list(methods), settings.options)
    if calls.others:
        planned(model, calls.others, settings.variant, calls.options, 1, False)


def check_ablations(
    methods: Sequence[str], examples: Sequence[Example], metrics: Iterable[str]
) -> None:
    """Refuse methods that remove sources where there are none, and metrics for which they have no scores."""
    ablations = [method for method in methods if is_ablation(method)]
    if not ablations:
        return
    if not all(example.sources for example in examples):
        raise InvalidOption(
            f"method '{ablations[0]}' removes sources, and not all examples have them. Leave it out, or "
            "give questions with sources."
        )
    for name in metrics:
        if metric_of(name).roles:
            raise InvalidOption(
                f"metric '{name}' needs scores that '{ablations[0]}' does not have: for other classes, "
                "models or weights. Leave one of them out."
            )


def check_examples(
    model: Model, settings: Settings, examples: Sequence[Example], metrics: Iterable[str]
) -> None:
    """Refuse labels that the model does not have, and metrics whose needs are not met."""
    if model.task in (Task.SEQUENCE, Task.TOKEN):
        check_labels(model, settings, examples)
    is_contrast = any(example.rather_than is not None for example in examples)
    if is_contrast or any(example.sources for example in examples):
        check_writes(model)
    if is_contrast and settings.explain != "gold":
        raise InvalidOption(
            "the examples say which answer rather than which is explained. Use explain='gold'."
        )
    has = has_of(examples) | {
        "rival": bool(settings.rivals),
        "probability": model.task is not Task.REGRESSION,
        "one_reading": not model.is_encoder_decoder,
    }
    for name in metrics:
        for need, meaning in requirements(metric_of(name)).items():
            if not has.get(need, True):
                raise InvalidOption(
                    f"metric '{name}' needs {meaning}, which {settings.model} on '{settings.data}' does "
                    "not have. Leave the metric out, or give what it needs."
                )


def check_labels(model: Model, settings: Settings, examples: Sequence[Example]) -> None:
    """Refuse a label that the model does not have, and report labels that were matched to another name."""
    matched = []
    for example in {repr(each.label): each for each in reversed(examples)}.values():
        found = gold_of(model, settings, example)
        if example.label is not None and found is not None:
            name = model.labels[found]
            if is_matched(example.label, settings.labels, name):
                matched.append(f"{example.label} → {name}")
    if matched:
        say(f"labels of the data matched to the model's: {', '.join(sorted(matched))}.")


def has_of(examples: Sequence[Example]) -> dict[str, bool]:
    """Which needs of metrics the examples meet."""
    return {
        "gold": any(example.label is not None for example in examples),
        "marks": any(example.marks is not None for example in examples),
        "answers": any(example.answers for example in examples),
        "sources": any(each.sources or each.rather_than is not None for each in examples),
        "removal": all(example.rather_than is None for example in examples),
    }


def loader(request: Request) -> Callable[[str], Model]:
    """A function that gives models by name and loads each once; a given model is not loaded again."""
    given = request.model

    @cache
    def model() -> Model:
        if isinstance(given, Model):
            return given
        return load(given, device=request.device, dtype=request.dtype)

    @cache
    def rival(name: str) -> Model:
        return load(name, device=request.device, dtype=dtype_of(model()))

    own = given.name if isinstance(given, Model) else given
    return lambda name: model() if name == own else rival(name)


def dtype_of(model: Model) -> str:
    """The name of the type of a model's weights."""
    return str(model.network.dtype).removeprefix("torch.")


def examples_of(request: Request, given: Given = NOTHING) -> tuple[list[Example], tuple[str, ...]]:
    """The examples and the names of their labels; a list is sampled like a file.

    Without data they are the texts of the given attributions.
    """
    data, limit, seed = request.data, request.limit, request.seed
    data = given_examples(given) if data is None else data
    if isinstance(data, str):
        return read_examples(data, limit=limit, seed=seed, strict=request.strict)
    if not data:
        raise InvalidInput("the list of examples is empty: there is nothing to evaluate.")
    blank = [number for number, example in enumerate(data) if is_blank(example.text)]
    if request.strict and blank:
        raise InvalidInput(f"example {blank[0]} has no text. Leave it out, or use strict=False.")
    return [data[number] for number in drawn(len(data), limit, seed)], ()
