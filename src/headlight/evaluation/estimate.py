"""Estimates the cost of a run by running and timing a small piece of it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from headlight.batch import as_tuple
from headlight.data.example import Example
from headlight.evaluation.attribute import explain_shard
from headlight.evaluation.given import NOTHING, Given
from headlight.evaluation.measure import measure_shard
from headlight.evaluation.plan import full_name, roles_of, scored
from headlight.evaluation.settings import Settings
from headlight.metrics.case import Metrics, metric_of
from headlight.models.model import Model
from headlight.probing.ask import ask
from headlight.probing.probe import Outcome, Probe

SAMPLED = 32
SLOW = {"corpus", "clock", "work", "randomised", "ledger"}
"""Needs and roles that are computed on few examples, or outside the jobs; the estimate leaves them out."""


@dataclass(frozen=True)
class Cost:
    """The cost of a run: how many attributions and probes, and seconds on this machine.

    probes: perturbed inputs that metrics ask for. unique: how many of them differ, so that the model runs on
    them. tokens: the tokens of the unique ones.
    """

    attributions: int
    probes: int
    unique: int
    tokens: int
    explain_seconds: float
    measure_seconds: float

    @property
    def seconds(self) -> float:
        """Explaining and measuring together."""
        return self.explain_seconds + self.measure_seconds


@dataclass(frozen=True)
class Tally:
    """Puts probes to a model, and counts them round by round; in each the model runs once on equal ones."""

    probes: list[int] = field(default_factory=list)
    unique: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def ask(self, model: Model, probes: Sequence[Probe]) -> list[Outcome]:
        """The answers to probes."""
        different = set(probes)
        self.probes.append(len(probes))
        self.unique.append(len(different))
        self.tokens.append(sum(map(len, different)))
        return ask(model, probes)


def estimate(
    settings: Settings,
    models: Callable[[str], Model],
    examples: Sequence[Example],
    methods: Sequence[str],
    metrics: Metrics,
    given: Given = NOTHING,
) -> Cost:
    """Estimate the cost of a run from examples of every length, without randomised and timed metrics."""
    sizes = [sum(map(len, (*as_tuple(each.text), *each.sources))) for each in examples]
    chosen = {number: examples[number] for number in of_every_length(sizes)}
    usual: Metrics = {
        name: options
        for name, options in metrics.items()
        if not SLOW & {*metric_of(name).needs, *metric_of(name).roles}
    }
    names = [*map(full_name, methods), *given]
    # What is given has no further scores, so metrics that need them measure only computed ones.
    usual = scored(usual) if given else usual
    roles = ("own", *roles_of(usual))
    model = models(settings.model)
    # A first call outside the clock pays for lazy imports and caches.
    explain_shard(names, roles, settings, models, dict(list(chosen.items())[:4]), given)
    start = time.perf_counter()
    explained = explain_shard(names, roles, settings, models, chosen, given)
    middle = time.perf_counter()
    tally = Tally()
    measure_shard(names, usual, model, chosen, explained, tally.ask)
    end = time.perf_counter()
    share = sum(sizes) / sum(sizes[number] for number in chosen)
    return Cost(
        attributions=round(len(examples) / len(chosen) * len(explained)),
        probes=round(share * sum(tally.probes)),
        unique=round(share * sum(tally.unique)),
        tokens=round(share * sum(tally.tokens)),
        explain_seconds=share * (middle - start),
        measure_seconds=share * (end - middle),
    )


def of_every_length(sizes: Sequence[int]) -> list[int]:
    """A few examples, evenly spaced in the order of their sizes."""
    by_length = sorted(range(len(sizes)), key=lambda number: sizes[number])
    step = max(1.0, len(sizes) / SAMPLED)
    return sorted(by_length[int((n + 0.5) * step)] for n in range(min(SAMPLED, len(sizes))))
