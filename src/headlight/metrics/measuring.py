"""Runs metrics on cases; the probes of all metrics go to the model together."""

from collections.abc import Generator, Hashable, Mapping, Sequence
from typing import Any, TypeVar

from headlight.metrics.case import Case, Measures, Metrics, metric_of
from headlight.models.model import Model
from headlight.probing.ask import Ask, ask
from headlight.probing.probe import Outcome, Probe

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")
Asking = Generator[Sequence[Probe], Sequence[Outcome], Result]
"""What asks the model, as often as it must, and then returns."""


def measure(
    model: Model, cases: Sequence[Case], metrics: Metrics, put: Ask = ask
) -> list[dict[str, Measures]]:
    """Every metric (by its name in the run, with its options) on every case.

    What a metric must know of an example whatever the method is computed first, once for all methods.
    """
    common = shared(model, cases, metrics, put)
    started = {
        (number, name): metric_of(name).function(case, *common_of(common, name, case), **options)
        for number, case in enumerate(cases)
        for name, options in metrics.items()
    }
    found = finished(model, started, put)
    return [{name: found[number, name] for name in metrics} for number in range(len(cases))]


def shared(
    model: Model, cases: Sequence[Case], metrics: Metrics, put: Ask
) -> dict[tuple[str, Hashable], Any]:
    """What metrics share among methods, by their names in the run and subjects."""
    started: dict[tuple[str, Hashable], Any] = {}
    for name, options in metrics.items():
        compute = metric_of(name).shared
        if compute is not None:
            for subject in dict.fromkeys(case.subject for case in cases):
                started[name, subject] = compute(subject, **options)
    return finished(model, started, put)


def common_of(common: Mapping[tuple[str, Hashable], Any], name: str, case: Case) -> tuple[Any, ...]:
    """The second argument of a metric that shares something among methods; none for the others."""
    return () if metric_of(name).shared is None else (common[name, case.subject],)


def finished(model: Model, started: Mapping[Key, Any], put: Ask) -> dict[Key, Any]:
    """The results of what was started; in every round all probes go to the model together, equal ones once."""
    found = {key: each for key, each in started.items() if not isinstance(each, Generator)}
    waiting: dict[Key, tuple[Asking[Any], Sequence[Probe]]] = {}

    def go_on(key: Key, asking: Asking[Any], answers: Sequence[Outcome] | None) -> None:
        try:
            waiting[key] = (asking, asking.send(answers))  # type: ignore[arg-type]
        except StopIteration as ended:
            found[key] = ended.value

    for key, each in started.items():
        if isinstance(each, Generator):
            go_on(key, each, None)
    while waiting:
        now, waiting = waiting, {}
        answers = iter(put(model, [probe for _, probes in now.values() for probe in probes]))
        for key, (asking, probes) in now.items():
            go_on(key, asking, [next(answers) for _ in probes])
    return found
