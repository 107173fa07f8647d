"""Runs metrics on cases; the probes of all metrics go to the model together."""

from collections.abc import Sequence
from typing import Any

from headlight.metrics.case import Case, Measures, Measuring, Metrics, metric_of
from headlight.models.model import Model
from headlight.probing.ask import ask
from headlight.probing.probe import Probe

Waiting = tuple[int, str, Measuring, Sequence[Probe]]
"""A metric that waits for answers: number of its case, its name in the run, the generator, its probes."""


def begun(
    cases: Sequence[Case], metrics: Metrics
) -> tuple[list[dict[str, Measures]], list[Waiting]]:
    """Start every metric: the results of those that need no model, and the metrics that wait for answers."""
    found: list[dict[str, Measures]] = [{} for _ in cases]
    waiting: list[Waiting] = []
    for number, case in enumerate(cases):
        for name, options in metrics.items():
            result: Any = metric_of(name).function(case, **options)
            if isinstance(result, dict):
                found[number][name] = result
                continue
            try:
                waiting.append((number, name, result, next(result)))
            except StopIteration as ended:
                found[number][name] = ended.value
    return found, waiting


def measure(model: Model, cases: Sequence[Case], metrics: Metrics) -> list[dict[str, Measures]]:
    """Every metric (by its name in the run, with its options) on every case; equal probes run once."""
    found, waiting = begun(cases, metrics)
    answers = iter(ask(model, [probe for *_, probes in waiting for probe in probes]))
    for number, name, metric, probes in waiting:
        try:
            metric.send([next(answers) for _ in probes])
        except StopIteration as ended:
            found[number][name] = ended.value
        else:
            raise AssertionError(f"{name} asks twice")
    return [{name: own[name] for name in metrics} for own in found]
