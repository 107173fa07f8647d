"""Explaining a shard: every role is what `explain` gives on the model, class or weights it names."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import Example, Model
from headlight.evaluation.attribute import ROLES, explain_shard, plan_of
from headlight.evaluation.records import AttributionRecord
from headlight.evaluation.settings import Settings
from headlight.explaining.conservation import conservation
from headlight.metrics import METRICS, case
from headlight.shapes import Scores
from headlight.trace.trace import Trace
from tests.known import known


def explained(
    model: Model, examples: Sequence[Example], methods: Sequence[str], *roles: str, **changes: Any
) -> list[AttributionRecord]:
    """The records of a shard."""
    settings = Settings(model.name, "f", "made up", "h", len(examples), **changes)
    return explain_shard(methods, roles, settings, lambda _: model, dict(enumerate(examples)))


def test_records_have_the_scores_and_the_target_of_explain(
    classifier: Model, examples: list[Example]
) -> None:
    records = explained(classifier, examples[:3], ["attcat", "rollout"], "own")
    assert [(r.example, r.method) for r in records] == [
        (n, method) for n in range(3) for method in ("attcat", "rollout")
    ]
    for record in records:
        found = headlight.explain(classifier, examples[record.example].text, record.method)
        np.testing.assert_allclose(known(record.scores), found.scores, rtol=1e-4, atol=1e-6)
        assert (record.tokens, record.label) == (found.tokens, found.target.label)
        assert record.logit == pytest.approx(found.target.logit, abs=1e-5)
        assert classifier.labels[record.gold or 0] == examples[record.example].label


def test_the_second_best_class_is_explained_beside_the_first(
    classifier: Model, examples: list[Example]
) -> None:
    own, other = explained(classifier, examples[:1], ["attcat"], "own", "runner_up")
    logits = classifier.network(
        **known(classifier.tokenizer)(examples[0].text, return_tensors="pt")
    ).logits
    first, second, _ = logits[0].argsort(descending=True).tolist()
    assert (own.label, other.label) == (classifier.labels[first], classifier.labels[second])
    expected = headlight.explain(classifier, examples[0].text, "attcat", target=other.label)
    np.testing.assert_allclose(known(other.scores), expected.scores, rtol=1e-4, atol=1e-6)


def test_rivals_are_named_in_their_role(classifier: Model, examples: list[Example]) -> None:
    records = explained(
        classifier, examples[:2], ["attcat"], "own", "rival", rivals=("one", "other")
    )
    assert [r.role for r in records] == ["own", "rival:one", "rival:other"] * 2
    assert records[0].scores == records[1].scores == records[2].scores


def test_only_the_first_examples_of_a_run_are_randomised_and_summed(
    classifier: Model, examples: list[Example]
) -> None:
    records = explained(
        classifier, examples[:3], ["lrp", "random"], "randomised", "ledger", sanity=2
    )
    assert {r.example for r in records} == {0, 1}
    depths = len(classifier.blocks) + 1
    assert {r.role for r in records} == {"ledger", *(f"randomised:{n + 1}" for n in range(depths))}
    ledgers = [r for r in records if r.role == "ledger"]
    assert {r.method for r in ledgers} == {"lrp"}
    expected = conservation(classifier, examples[0].text, preset="chefer")
    np.testing.assert_allclose(known(ledgers[0].scores), expected, rtol=1e-6)


def test_what_fails_stands_before_what_was_found_and_takes_nothing_with_it(
    classifier: Model, examples: list[Example], monkeypatch: pytest.MonkeyPatch
) -> None:
    attcat = headlight.METHODS["attcat"]
    longest = max(len(str(example.text).split()) for example in examples) + 2

    def broken(trace: Trace) -> Scores:
        is_long = trace.inputs.lengths[:, None] >= longest
        return torch.where(is_long, torch.nan, attcat.function(trace))

    monkeypatch.setitem(headlight.METHODS.entries, "attcat", replace(attcat, function=broken))
    records = explained(classifier, examples, ["attcat", "gae"], "own")
    assert [r.example for r in records] == sorted(r.example for r in records)
    for number, example in enumerate(examples):
        own = [(r.method, r.role) for r in records if r.example == number]
        fails = len(known(classifier.tokenizer)(example.text)["input_ids"]) >= longest
        expected = (
            [("", "failed"), ("gae", "own")] if fails else [("attcat", "own"), ("gae", "own")]
        )
        assert own == expected
    assert any(r.error and "'attcat' gives NaN" in r.error for r in records)


def test_methods_are_given_the_options_that_they_have(classifier: Model) -> None:
    settings = Settings("m", "f", "made up", "h", 1, options={"steps": 3})
    plan = plan_of(classifier, ["integrated_gradients", "rollout"], settings, 4)
    assert [dict(entry.settled).get("steps") for entry in plan.entries] == [3, None]
    assert plan_of(classifier, ["rollout"], settings, 4).batch_size == 4


def test_every_role_that_a_metric_may_need_can_be_computed() -> None:
    assert list(ROLES) == ["own", *case.ROLES]
    assert {role for name in METRICS for role in METRICS[name].roles} == set(case.ROLES)
