"""Metrics on cases: what needs no model is found at once, and all probes go to it together."""

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from headlight.metrics import METRICS, measuring
from headlight.metrics.case import Case, Measure, Measures
from headlight.metrics.measuring import begun, measure
from headlight.models.model import Task
from headlight.probing.probe import Outcome, Probe
from tests.metrics import CLS, SEP, A, B, case_of, sentence
from tests.networks import model

CASES = [
    case_of(sentence([CLS, A, B, SEP], [0.0, 2.0, 1.0, 0.0])),
    case_of(sentence([CLS, B, SEP], [0.0, 1.0, 0.0])),
]


def plain(case: Case, *, factor: float = 1.0) -> Measures:
    """Asks nothing."""
    return {"": Measure(factor * len(case.scores))}


def asking(case: Case) -> Any:
    """Asks about the whole row, and about it without its first ordinary token."""
    answers = yield [case.subject.whole, case.subject.without([1], "mask")]
    return {"": Measure(sum(answer.logit for answer in answers))}


def passing(case: Case) -> Any:
    """Asks about rows of four tokens only."""
    if len(case.scores) < 4:
        return {"": Measure(-1.0)}
    return (yield from asking(case))


def asking_twice(case: Case) -> Any:
    """Breaks the rule of one question."""
    yield [case.subject.whole]
    yield [case.subject.whole]


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    made = (plain, asking, passing, asking_twice)
    for function in made:
        METRICS.register(f"their_{function.__name__}", better="higher")(function)
    yield
    for function in made:
        name = f"their_{function.__name__}"
        del METRICS.entries[name], METRICS.spellings[name.replace("_", "")]


def test_all_probes_of_all_cases_are_put_to_the_model_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Sequence[Probe]] = []

    def ask(_model: object, probes: Sequence[Probe]) -> list[Outcome]:
        asked.append(probes)
        return [Outcome(float(number), 0.0, 0) for number in range(len(probes))]

    monkeypatch.setattr(measuring, "ask", ask)
    metrics = {"their_asking": {}, "their_plain": {"factor": 2.0}, "their_passing": {}}
    found = measure(model("bert", Task.SEQUENCE), CASES, metrics)
    assert [len(probes) for probes in asked] == [6]
    assert [list(own) for own in found] == [list(metrics)] * 2
    values = [{name: own[""].value for name, own in each.items()} for each in found]
    assert values == [
        {"their_asking": 0.0 + 1.0, "their_plain": 8.0, "their_passing": 2.0 + 3.0},
        {"their_asking": 4.0 + 5.0, "their_plain": 6.0, "their_passing": -1.0},
    ]


def test_what_asks_waits_and_the_rest_is_found() -> None:
    found, waiting = begun(CASES, {"their_plain": {}, "their_passing": {}})
    assert [sorted(own) for own in found] == [["their_plain"], ["their_passing", "their_plain"]]
    assert [(number, name, len(probes)) for number, name, _, probes in waiting] == [
        (0, "their_passing", 2)
    ]


def test_a_metric_that_asks_twice_is_a_mistake_of_its_author() -> None:
    with pytest.raises(AssertionError, match="their_asking_twice asks twice"):
        measure(model("bert", Task.SEQUENCE), CASES[:1], {"their_asking_twice": {}})
