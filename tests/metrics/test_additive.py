"""Scores that are added up: numbers worked out by hand, and those of the oracles."""

import math
from dataclasses import replace

import numpy as np
import pytest

from headlight.metrics import METRICS
from headlight.metrics.additive import halves
from tests.metrics import (
    CLS,
    MASK,
    ODDS,
    PAD,
    SEP,
    A,
    B,
    C,
    D,
    asked,
    assert_replicated,
    case_of,
    sentence,
    value,
)
from tests.reference.metrics import Sentence

SHORT = (CLS, A, B, C, D, SEP)
WEIGHTS = [math.log(6), math.log(2), -math.log(2), -math.log(2)]
"""What each token adds to the log-odds."""


def tokens(scores: list[float], **facts: object) -> Sentence:
    """[CLS] A B C D [SEP]."""
    return sentence(SHORT, [0.5, *scores, 0.0], ODDS, **facts)


def sources(scores: list[float]) -> Sentence:
    """The same, with each letter a source of its own."""
    return tokens(scores, sources=[None, 0, 1, 2, 3, None])


@pytest.mark.parametrize("seed", range(36))
@pytest.mark.parametrize("metric", ["lds", "sensitivity_n", "completeness"])
def test_measures_are_those_of_the_oracle(metric: str, seed: int) -> None:
    assert_replicated(metric, "", seed)


@pytest.mark.parametrize("units", [tokens, sources])
def test_scores_in_the_right_order_correlate_and_in_the_other_do_not(units: object) -> None:
    assert callable(units)
    assert value(units(WEIGHTS), "lds") == pytest.approx(1)
    assert value(units([-weight for weight in WEIGHTS]), "lds") == pytest.approx(-1)
    assert value(units([10 * weight + 3 for weight in WEIGHTS]), "lds") == pytest.approx(1)


def test_tokens_and_sources_of_one_token_are_asked_about_alike() -> None:
    assert asked(tokens(WEIGHTS), "lds") == asked(sources(WEIGHTS), "lds")
    assert len(asked(tokens(WEIGHTS), "lds")[1]) == math.comb(4, 2)


def test_only_values_make_the_correlation_linear() -> None:
    bent = [math.copysign(weight**4, weight) for weight in WEIGHTS]
    assert value(tokens(bent), "lds") == pytest.approx(1)
    assert value(tokens(bent), "sensitivity_n") < value(tokens(WEIGHTS), "sensitivity_n") < 1


@pytest.mark.parametrize("metric", ["lds", "sensitivity_n"])
@pytest.mark.parametrize("score", [0.0, 2.0, -0.3])
def test_equal_scores_say_nothing(metric: str, score: float) -> None:
    found = asked(tokens([score] * 4), metric)[0][""]
    assert (found.value, found.note) == (0.0, "all scores are equal")


@pytest.mark.parametrize("metric", ["lds", "sensitivity_n"])
def test_a_model_that_does_not_listen_is_passed_over(metric: str) -> None:
    deaf = sentence([CLS, 30, 31, 32, SEP], [0.0, 1.0, 2.0, 3.0, 0.0])
    found = asked(deaf, metric)[0][""]
    assert math.isnan(found.value)
    assert found.note == "the probability does not change, whatever is removed"
    single = asked(sentence([CLS, A, SEP], [0, 1, 0]), metric)[0][""]
    assert single.note == "fewer than two tokens may be removed"


def test_halves_are_all_or_drawn_with_a_seed() -> None:
    assert len({tuple(row) for row in halves(4, 6, 0).tolist()}) == 6
    drawn = halves(7, 30, 3)
    assert drawn.shape == (30, 7)
    assert (drawn.sum(1) == 3).all()
    assert np.array_equal(drawn, halves(7, 30, 3))
    assert not np.array_equal(drawn, halves(7, 30, 4))


# -------------------------------------------------------------------------------- completeness


@pytest.mark.parametrize(
    ("total", "expected"), [(math.log(3), 0), (2 * math.log(3), 1 / 3), (-math.log(3), 1), (0, 1)]
)
def test_completeness_by_hand(total: float, expected: float) -> None:
    s = sentence(SHORT, [0, total / 4, total / 4, total / 2, 0, 0])
    found, probes = asked(s, "completeness")
    assert found[""].value == pytest.approx(expected)
    assert probes[1].ids == (CLS, MASK, MASK, MASK, MASK, SEP)
    assert all(probes[1].attended)


def test_completeness_needs_signed_scores() -> None:
    found, probes = asked(sentence(SHORT, [1] * 6, signed=False), "completeness")
    assert found[""].note == "the scores have no sign, so they do not add up"
    assert not probes


@pytest.mark.parametrize("metric", ["completeness", "answer_completeness"])
def test_an_order_is_not_asked_whether_it_adds_up(metric: str) -> None:
    case = replace(case_of(sentence(SHORT, [1] * 6)), is_order=True, explained=3.0)
    result = METRICS[metric].function(case)
    if not isinstance(result, dict):
        with pytest.raises(StopIteration) as ended:
            next(result)
        result = ended.value.value
    assert result[""].note == "the scores are an order, so they do not add up"
    assert math.isnan(result[""].value)


def test_completeness_of_a_model_without_a_mask_token_uses_pad() -> None:
    _, probes = asked(sentence(SHORT, [1] * 6, mask_id=None), "completeness")
    assert probes[1].ids == (CLS, PAD, PAD, PAD, PAD, SEP)
    assert all(probes[1].attended)


def test_it_is_also_called_an_error() -> None:
    assert (
        asked(tokens(WEIGHTS), "completeness_error")[0] == asked(tokens(WEIGHTS), "completeness")[0]
    )
