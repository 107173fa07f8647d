"""Measuring a shard: stored attributions become cases, and what metrics find becomes records."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

import headlight
from headlight import Example, InvalidInput, Model
from headlight.evaluation.attribute import explain_shard
from headlight.evaluation.measure import (
    cases_of,
    measure_records,
    measure_shard,
    time_shard,
)
from headlight.evaluation.records import AttributionRecord, attribution_records, table
from headlight.evaluation.settings import Settings
from headlight.metrics.case import Measure, passed_over

SETTINGS = Settings("tiny classifier", "f", "made up", "h", 11, sanity=2)
METHODS = ["attcat", "gae"]


@pytest.fixture(scope="module")
def shard(classifier: Model, examples: list[Example]) -> dict[int, Example]:
    """The first examples of a run."""
    return dict(enumerate(examples[:3]))


@pytest.fixture(scope="module")
def attributions(classifier: Model, shard: Mapping[int, Example]) -> list[AttributionRecord]:
    """Their scores, as they are read from a part."""
    roles = ("own", "runner_up")
    found = explain_shard(METHODS, roles, SETTINGS, lambda _: classifier, shard)
    return attribution_records(table("explain", found))


def test_cases_are_the_scores_of_the_methods_that_are_asked_for(
    classifier: Model, shard: Mapping[int, Example], attributions: list[AttributionRecord]
) -> None:
    cases = list(cases_of(["gae"], classifier, shard, attributions))
    assert [number for number, _ in cases] == [0, 1, 2]
    for number, case in cases:
        own, other = (r for r in attributions if (r.example, r.method) == (number, "gae"))
        assert case.method == "gae"
        assert not case.signed
        assert case.scores.tolist() == own.scores
        assert list(case.others) == ["runner_up"]
        assert case.others["runner_up"].tolist() == other.scores
        assert (case.gold, case.predicted) == (own.gold, own.predicted)
        assert case.subject.row.ids == tuple(own.ids or ())


def test_methods_share_what_is_known_of_an_example(
    classifier: Model, shard: Mapping[int, Example], attributions: list[AttributionRecord]
) -> None:
    first, second, *_ = [case for _, case in cases_of(METHODS, classifier, shard, attributions)]
    assert first.subject is second.subject
    assert first.marks is second.marks


def test_failures_are_not_measured(
    classifier: Model, shard: Mapping[int, Example], attributions: list[AttributionRecord]
) -> None:
    failed = [AttributionRecord(1, "", "failed", error="empty")]
    kept = [record for record in attributions if record.example != 1]
    found = measure_shard(METHODS, {"aopc": {}}, classifier, shard, kept + failed)
    assert [(r.example, r.method) for r in found] == [
        (n, method) for n in (0, 2) for method in METHODS
    ]


def test_other_tokens_than_those_that_have_scores_are_refused(
    classifier: Model, shard: Mapping[int, Example], attributions: list[AttributionRecord]
) -> None:
    changed = [replace(attributions[0], ids=[9, 9])]
    with pytest.raises(InvalidInput, match="example 0 has other tokens than when it was explained"):
        list(cases_of(METHODS, classifier, shard, changed))


def test_measures_follow_the_options_and_keep_their_curves(
    classifier: Model, shard: Mapping[int, Example], attributions: list[AttributionRecord]
) -> None:
    metrics = {"aopc": {"levels": [0.5, 1.0]}, "rationale": {}}
    found = measure_shard(["gae"], metrics, classifier, shard, attributions)
    assert [r.metric for r in found[:4]] == [
        "aopc", "rationale.f1", "rationale.iou", "rationale.auprc",
    ]  # fmt: skip
    assert found[0].levels == (0.5, 1.0)
    assert found[0].value == pytest.approx(np.mean(found[0].curve or ()))


def test_what_does_not_apply_has_a_note_and_no_value() -> None:
    (record,) = measure_records(3, "gae", "aopc", passed_over("no token"))
    assert (record.example, record.value, record.note) == (3, None, "no token")
    (record,) = measure_records(3, "gae", "aopc@alti", {"part": Measure(0.5, weight=2.0)})
    assert (record.metric, record.value, record.weight) == ("aopc@alti.part", 0.5, 2.0)
    assert (record.levels, record.curve, record.note) == ((), (), None)


def test_time_is_measured_by_whatever_metrics_are_timed(
    classifier: Model, shard: Mapping[int, Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = headlight.METRICS["runtime"]

    def doubled(seconds: float, plain: float, *, factor: int = 2) -> dict[str, Measure]:
        return {"": Measure(factor * seconds / plain)}

    entries = headlight.METRICS.entries
    monkeypatch.setitem(entries, "theirs", replace(runtime, name="theirs", function=doubled))
    monkeypatch.setitem(headlight.METRICS.spellings, "theirs", "theirs")
    metrics = {"runtime": {}, "theirs": {"factor": 4}}
    found = time_shard(["gae"], metrics, SETTINGS, classifier, shard)
    assert [r.metric for r in found[:3]] == ["runtime.seconds", "runtime.passes", "theirs"]
    assert len(found) == 3 * len(shard)
    assert found[2].value == pytest.approx(4 * (found[1].value or 0))
