"""What a run will cost, from a small piece of it that is really run and timed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from headlight.batch import as_tuple
from headlight.data.example import Example
from headlight.evaluation.attribute import explain_shard
from headlight.evaluation.measure import cases_of, measure_shard
from headlight.evaluation.plan import Job, Metrics, roles_of
from headlight.evaluation.records import attribution_records, table
from headlight.evaluation.settings import Settings
from headlight.metrics.case import metric_of
from headlight.metrics.measuring import begun
from headlight.models.model import Model

SAMPLED = 32


@dataclass(frozen=True)
class Cost:
    """What a run needs: attributions and probes in number, and seconds on this machine.

    probes: perturbed inputs that metrics ask for; unique: those that are put to the model; tokens: of these.
    """

    attributions: int
    probes: int
    unique: int
    tokens: int
    explain_seconds: float
    measure_seconds: float

    @property
    def seconds(self) -> float:
        """Of both."""
        return self.explain_seconds + self.measure_seconds


def estimate(
    settings: Settings,
    models: Callable[[str], Model],
    examples: Sequence[Example],
    methods: Sequence[str],
    metrics: Metrics,
) -> Cost:
    """The cost of a run from examples of every length; randomised and timed scores are left out."""
    sizes = [sum(map(len, as_tuple(example.text))) for example in examples]
    by_length = sorted(range(len(examples)), key=lambda number: sizes[number])
    step = max(1.0, len(examples) / SAMPLED)
    drawn = [by_length[int((n + 0.5) * step)] for n in range(min(SAMPLED, len(examples)))]
    chosen = {number: examples[number] for number in sorted(drawn)}
    usual = {
        name: options
        for name, options in metrics.items()
        if not metric_of(name).needs & {"corpus", "clock", "randomised", "ledger"}
    }
    roles = ("own", *(role for role in roles_of(usual)))
    job = Job("explain", 0, 0, 0, tuple(methods), usual, roles)
    model = models(settings.model)
    explain_shard(job, settings, models, dict(list(chosen.items())[:4]))
    start = time.perf_counter()
    records = explain_shard(job, settings, models, chosen)
    explained = time.perf_counter() - start
    records = attribution_records(table("explain", records))
    start = time.perf_counter()
    measure_shard(job, model, chosen, records)
    measured = time.perf_counter() - start
    cases = [case for _, case in cases_of(job, model, chosen, records)]
    probes = [probe for *_, own in begun(cases, usual)[1] for probe in own]
    share = sum(sizes) / sum(sizes[number] for number in chosen)
    return Cost(
        attributions=round(len(examples) / len(chosen) * len(records)),
        probes=round(share * len(probes)),
        unique=round(share * len(set(probes))),
        tokens=round(share * sum(map(len, set(probes)))),
        explain_seconds=share * explained,
        measure_seconds=share * measured,
    )
