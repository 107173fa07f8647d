"""Metrics on cases: all probes of a round go to the model together, and methods share what they can."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from headlight.metrics import METRICS
from headlight.metrics.case import Case, Measure, Measures
from headlight.metrics.measuring import measure
from headlight.models.model import Task
from headlight.probing.ask import Ask
from headlight.probing.probe import Outcome, Probe, Subject
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
    """Asks about the whole row, and then about as many rows as it was told."""
    (answer,) = yield [case.subject.whole]
    further = yield [case.subject.without([1], "mask")] * int(answer.logit + 1)
    return {"": Measure(float(len(further)))}


def common(subject: Subject, *, times: int = 1) -> Any:
    """What all methods share: the logit of the whole row, asked for once."""
    (answer,) = yield [subject.whole]
    return times * answer.logit


def sharing(case: Case, shared: float, *, times: int = 1) -> Measures:
    """Adds its own score to what is shared."""
    return {"": Measure(shared + case.scores[1] + 0 * times)}


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    made = (plain, asking, passing, asking_twice, sharing)
    for function in made:
        facts = {"shared": common} if function is sharing else {}
        METRICS.register(f"their_{function.__name__}", better="higher", **facts)(function)
    yield
    for function in made:
        name = f"their_{function.__name__}"
        del METRICS.entries[name], METRICS.spellings[name.replace("_", "")]


def counting(asked: list[Sequence[Probe]]) -> Ask:
    """Notes the probes of every round; the logits are their numbers."""

    def put(_model: object, probes: Sequence[Probe]) -> list[Outcome]:
        asked.append(probes)
        return [Outcome(float(number), 0.0, 0) for number in range(len(probes))]

    return put


def test_all_probes_of_all_cases_are_put_to_the_model_at_once() -> None:
    asked: list[Sequence[Probe]] = []
    metrics = {"their_asking": {}, "their_plain": {"factor": 2.0}, "their_passing": {}}
    found = measure(model("bert", Task.SEQUENCE), CASES, metrics, counting(asked))
    assert [len(probes) for probes in asked] == [6]
    assert [list(own) for own in found] == [list(metrics)] * 2
    values = [{name: own[""].value for name, own in each.items()} for each in found]
    assert values == [
        {"their_asking": 0.0 + 1.0, "their_plain": 8.0, "their_passing": 2.0 + 3.0},
        {"their_asking": 4.0 + 5.0, "their_plain": 6.0, "their_passing": -1.0},
    ]


def test_what_needs_no_model_asks_nothing() -> None:
    asked: list[Sequence[Probe]] = []
    found = measure(model("bert", Task.SEQUENCE), CASES, {"their_plain": {}}, counting(asked))
    assert [own["their_plain"][""].value for own in found] == [4.0, 3.0]
    assert asked == []


def test_a_metric_may_ask_in_rounds() -> None:
    asked: list[Sequence[Probe]] = []
    metrics: dict[str, dict[str, Any]] = {"their_asking_twice": {}, "their_asking": {}}
    found = measure(model("bert", Task.SEQUENCE), CASES, metrics, counting(asked))
    # In the first round the cases ask about 3 rows each; the second sees the first as number 0, then 3.
    assert [len(probes) for probes in asked] == [6, 1 + 4]
    assert [own["their_asking_twice"][""].value for own in found] == [1.0, 4.0]
    assert [own["their_asking"][""].value for own in found] == [1.0 + 2.0, 4.0 + 5.0]


def test_what_methods_share_is_computed_once_for_an_example() -> None:
    asked: list[Sequence[Probe]] = []
    first, second = CASES
    other = replace(first, scores=first.scores * 3, method="other")
    metrics = {"their_sharing": {"times": 10}}
    cases = [first, other, second]
    found = measure(model("bert", Task.SEQUENCE), cases, metrics, counting(asked))
    assert [list(probes) for probes in asked] == [[first.subject.whole, second.subject.whole]]
    values = [own["their_sharing"][""].value for own in found]
    assert values == [0.0 + 2.0, 0.0 + 6.0, 10.0 + 1.0]
