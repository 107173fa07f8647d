"""As much as can be had, and the reason for the rest."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from headlight import HeadlightError, InvalidInput, InvalidOption, Model, Target
from headlight.batch import Row, encode
from headlight.explaining import robust
from headlight.explaining.plan import Plan
from headlight.explaining.robust import plan_each, predict_each, run_each

TEXTS = ["a good film", "bad", "the plot is dull", "a story"]


@pytest.fixture
def rows(classifier: Model) -> Sequence[Row]:
    return encode(TEXTS, classifier.tokenizer)  # type: ignore[arg-type]


def refused(row: Row) -> bool:
    return "bad" in row.tokens


def test_methods_that_cannot_be_planned_are_told_and_the_others_are_kept(classifier: Model) -> None:
    plan, failures = plan_each(classifier, ["attcat", "mask_lrp", "lime"], {"samples": 7})
    assert plan is not None
    assert [entry.name for entry in plan.entries] == ["attcat", "lime"]
    assert plan.entries[1].settled["samples"] == 7
    assert list(failures) == ["mask_lrp"]
    assert "comes without a head mask" in str(failures["mask_lrp"])


def test_no_method_at_all_is_no_plan(classifier: Model) -> None:
    plan, failures = plan_each(classifier, ["mask_lrp"], {})
    assert plan is None
    assert isinstance(failures["mask_lrp"], InvalidOption)


def test_a_row_that_fails_takes_no_other_with_it(
    classifier: Model, rows: Sequence[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only one method fails, and only on one row; everything else is as it would be."""
    plan, _ = plan_each(classifier, ["attcat", "rollout"], {})
    assert plan is not None
    expected = run_each(classifier, rows, [Target()] * 4, plan)
    plain = robust.run  # type: ignore[attr-defined]

    def run(model: Model, some: Sequence[Row], targets: Any, given: Plan) -> Any:
        if any(map(refused, some)) and any(entry.name == "attcat" for entry in given.entries):
            raise InvalidInput("not this one")
        return plain(model, some, targets, given)

    monkeypatch.setattr(robust, "run", run)
    found = run_each(classifier, rows, [Target()] * 4, plan)
    for number, (own, other) in enumerate(zip(found, expected, strict=True)):
        assert list(own) == ["attcat", "rollout"]
        for name, outcome in own.items():
            if (number, name) == (1, "attcat"):
                assert isinstance(outcome, HeadlightError)
                assert str(outcome) == "not this one"
            else:
                np.testing.assert_allclose(outcome.scores, other[name].scores, rtol=1e-4, atol=1e-6)  # type: ignore[union-attr]


def test_predictions_are_halved_down_to_the_row_that_fails(
    classifier: Model, rows: Sequence[Row], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = predict_each(classifier, rows, [Target()] * 4)
    plain, sizes = robust.predict, []  # type: ignore[attr-defined]

    def predict(model: Model, some: Sequence[Row], targets: Any) -> Any:
        sizes.append(len(some))
        if any(map(refused, some)):
            raise InvalidInput("not this one")
        return plain(model, some, targets)

    monkeypatch.setattr(robust, "predict", predict)
    found = predict_each(classifier, rows, [Target()] * 4)
    assert sizes == [4, 2, 1, 1, 2]
    assert isinstance(found[1], InvalidInput)
    for number in (0, 2, 3):
        assert found[number].resolved.label == expected[number].resolved.label  # type: ignore[union-attr]


def test_no_rows_have_no_answers(classifier: Model) -> None:
    plan, _ = plan_each(classifier, ["attcat"], {})
    assert plan is not None
    assert run_each(classifier, [], [], plan) == []
    assert predict_each(classifier, [], []) == []
