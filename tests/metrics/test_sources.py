"""Sources that are removed: numbers worked out by hand, and those of the oracles."""

import math

import pytest

from tests.metrics import CLS, ODDS, SEP, A, B, C, D, asked, assert_replicated, sentence, value
from tests.reference.metrics import Sentence

METRICS = ("top_drop", "source_recall", "answer_completeness")


def answered(scores: list[float], **facts: object) -> Sentence:
    """[CLS] A B C D [SEP] with each letter a source of its own; removing A takes most from the odds of 3."""
    known = {"sources": [None, 0, 1, 2, 3, None], "right_source": 0, "explained": 4.0, **facts}
    return sentence([CLS, A, B, C, D, SEP], [0.5, *scores, 0.0], ODDS, **known)


@pytest.mark.parametrize("seed", range(36))
@pytest.mark.parametrize("metric", METRICS)
def test_measures_are_those_of_the_oracle(metric: str, seed: int) -> None:
    assert_replicated(metric, "", seed)


def test_a_drop_is_a_difference_of_log_probabilities() -> None:
    found, probes = asked(answered([3.0, 1.0, 0.0, -1.0]), "top_drop")
    # Without A the odds are 3/6; without A, B and C they are 3/6/2·2 again.
    assert found["1"].value == pytest.approx(math.log(3 / 4) - math.log(1 / 3))
    assert found["3"].value == pytest.approx(math.log(3 / 4) - math.log(1 / 3))
    assert len(probes) == 3


def test_the_right_source_is_first_or_shares_the_first_place() -> None:
    assert value(answered([2.0, 1, 0, 0]), "source_recall") == 1
    assert value(answered([1.0, 2, 0, 0]), "source_recall") == 0
    assert value(answered([2.0, 2, 0, 0]), "source_recall") == 0.5
    assert math.isnan(value(answered([2.0, 1, 0, 0], right_source=None), "source_recall"))


def test_completeness_counts_all_tokens_and_signed_scores_only() -> None:
    assert value(answered([2.0, 1, 0, 0]), "answer_completeness") == pytest.approx(0.5 / 4)
    assert math.isnan(value(answered([2.0, 1, 0, 0], signed=False), "answer_completeness"))
    assert math.isnan(value(answered([2.0, 1, 0, 0], explained=0.0), "answer_completeness"))


@pytest.mark.parametrize("metric", ["top_drop", "lds", "sensitivity_n", "source_recall"])
def test_a_single_source_is_passed_over(metric: str) -> None:
    one = answered([1.0] * 4, sources=[None, 0, 0, 0, 0, None])
    found, probes = asked(one, metric)
    assert math.isnan(found[""].value)
    assert found[""].note == "fewer than two sources"
    assert not probes
