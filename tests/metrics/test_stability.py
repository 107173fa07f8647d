"""Scores against other scores: numbers worked out by hand, oracles, properties, what is refused."""

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import InvalidOption
from headlight.metrics import statistics
from tests.metrics import CLS, SEP, asked, assert_replicated, drawn, few, protocols, sentence, value
from tests.reference.metrics import Sentence, jaccard, kendall, rank_correlation

KIND = (
    "kendall_confidence",
    "jaccard",
    "spearman",
    "randomisation",
    "conservation",
)


def bare(scores: Sequence[float], **facts: Any) -> Sentence:
    """A sentence without special tokens."""
    return sentence(range(10, 10 + len(scores)), scores, **facts)


def framed(scores: Sequence[float], **facts: Any) -> Sentence:
    """A sentence between [CLS] and [SEP], whose scores come first and last."""
    return sentence([CLS, *range(10, 8 + len(scores)), SEP], scores, **facts)


@pytest.mark.parametrize("seed", range(18))
@pytest.mark.parametrize(("metric", "protocol"), protocols(*KIND))
def test_stability_is_that_of_the_oracle(metric: str, protocol: str, seed: int) -> None:
    assert_replicated(metric, protocol, seed)


# ------------------------------------------------------------------------------------ Kendall


@pytest.mark.parametrize(
    ("scores", "runner_up", "tau"),
    [
        ([1, 2, 3, 4], [1, 2, 4, 3], 4 / 6),
        ([1, 1, 2, 3], [1, 2, 2, 3], 4 / 5),
        ([4, 1, 3, 2], [-4, -1, -3, -2], -1),
    ],
)
def test_kendall_by_hand(scores: list[float], runner_up: list[float], tau: float) -> None:
    assert value(bare(scores, runner_up=runner_up), "kendall_confidence") == pytest.approx(tau)
    s = framed([9, *scores, -9], runner_up=[-9, *runner_up, 9])
    assert value(s, "kendall_confidence") == pytest.approx(tau)


def test_attcat_correlates_orders_of_token_numbers() -> None:
    s = bare([4, 1, 3, 2], runner_up=[-4, -1, -3, -2])
    assert value(s, "kendall_confidence", protocol="attcat") == pytest.approx(2 / 6)
    s = framed([0, 1, 2, 0], runner_up=[0, 2, 1, 0])
    assert value(s, "kendall_confidence", protocol="attcat") == pytest.approx(4 / 6)


def test_equal_scores_tell_no_class_from_another() -> None:
    for runner_up in ([1, 2, 3], [5, 5, 5]):
        found = asked(bare([1, 1, 1], runner_up=runner_up), "kendall_confidence")[0][""]
        assert (found.value, found.note) == (1.0, "all scores are equal")
    assert value(bare([1, 2, 3], runner_up=[1, 1, 1]), "kendall_confidence") == 0
    assert asked(bare([1], runner_up=[2]), "kendall_confidence")[0][""].note == "a single score"


def test_kendall_needs_a_second_class() -> None:
    assert asked(bare([1, 2]), "kendall_confidence")[0][""].note == "no second class"


def test_kendall_refuses_an_unknown_protocol() -> None:
    message = "protocol='alti' does not exist here. Use one of corrected, attcat."
    with pytest.raises(InvalidOption, match=message):
        asked(bare([1, 2], runner_up=[2, 1]), "kendall_confidence", protocol="alti")


# ------------------------------------------------------------------------- Jaccard, Spearman


@pytest.mark.parametrize(
    ("rivals", "share", "expected"),
    [
        ([[0, 8, 7, 6, 5, 4, 3, 2, 1, 0]], 0.25, 1),
        ([[0, 8, 1, 7, 2, 3, 4, 5, 6, 0]], 0.25, 1 / 3),
        ([[0, 1, 2, 3, 4, 5, 6, 7, 8, 0]], 0.25, 0),
        ([[0, 8, 1, 7, 2, 3, 4, 5, 6, 0], [0, 8, 7, 6, 5, 4, 3, 2, 1, 0]], 0.25, 2 / 3),
        ([[0, 1, 2, 3, 4, 5, 6, 7, 8, 0]], 0.6, 2 / 8),
        ([[0, 1, 2, 3, 4, 5, 6, 7, 8, 0]], 1.0, 1),
    ],
)
def test_jaccard_by_hand(rivals: list[list[float]], share: float, expected: float) -> None:
    s = framed([9, 8, 7, 6, 5, 4, 3, 2, 1, 9], rivals=dict(enumerate(rivals)))
    assert value(s, "jaccard", share=share) == pytest.approx(expected)


def test_alti_counts_special_tokens_among_the_highest() -> None:
    s = framed([9, 4, 3, 2, 1, 0], rivals={"other": [9, 1, 2, 3, 4, 0]})
    assert value(s, "jaccard") == 0
    assert value(s, "jaccard", protocol="alti") == pytest.approx(1 / 3)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("seed", range(12))
def test_other_shares_are_those_of_the_oracle(seed: int, share: float) -> None:
    s = drawn(seed)
    for protocol in ("corrected", "alti"):
        expected = jaccard(s, protocol, Fraction(str(share)))[""].value
        found = value(s, "jaccard", protocol=protocol, share=share)
        assert found == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("share", [0, -0.1, 1.01, math.nan])
def test_jaccard_refuses_what_is_no_share(share: float) -> None:
    message = f"share={share} is not possible. Use more than 0 and at most 1."
    with pytest.raises(InvalidOption, match=message):
        asked(bare([1, 2], rivals={"other": [1, 2]}), "jaccard", share=share)


@pytest.mark.parametrize(
    ("scores", "rival", "corrected", "alti"),
    [
        ([1, 2, 3, 4], [1, 2, 4, 3], 0.8, 0.8),
        ([1, 1, 2, 3], [1, 2, 3, 4], math.sqrt(0.9), 0.9),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1, -1),
    ],
)
def test_spearman_by_hand(
    scores: list[float], rival: list[float], corrected: float, alti: float
) -> None:
    s = bare(scores, rivals={"other": rival})
    assert value(s, "spearman") == pytest.approx(corrected)
    assert value(s, "spearman", protocol="alti") == pytest.approx(alti)


def test_spearman_of_ordinary_tokens_and_in_alti_of_all() -> None:
    s = framed([9, 1, 2, 3, 0], rivals={"other": [9, 3, 2, 1, 0]})
    assert value(s, "spearman") == pytest.approx(-1)
    assert value(s, "spearman", protocol="alti") == pytest.approx(1 - 6 * 8 / (5 * 24))


def test_spearman_is_the_mean_over_rivals() -> None:
    rivals = {"same": [1, 2, 3, 4], "other": [1, 2, 4, 3], "constant": [5, 5, 5, 5]}
    assert value(bare([1, 2, 3, 4], rivals=rivals), "spearman") == pytest.approx((1 + 0.8 + 0) / 3)


@pytest.mark.parametrize("metric", ["jaccard", "spearman"])
def test_without_a_rival_that_agrees_nothing_is_measured(metric: str) -> None:
    found = asked(bare([1, 2, 3]), metric)[0][""]
    assert math.isnan(found.value)
    assert found.note == "the models decide differently"


# ------------------------------------------------------------------ randomisation, conservation


def test_randomisation_by_hand() -> None:
    networks = {10: [1, 1, 1, 1], 2: [4, 3, 2, 1], 1: [1, 2, 4, 3]}
    found = asked(bare([1, 2, 3, 4], randomised=networks), "randomisation")[0][""]
    assert found.levels == (1, 2, 10)
    assert found.curve == pytest.approx([0.8, 1, 0])
    assert found.value == pytest.approx(0.6)


def test_an_example_that_is_not_randomised_is_passed_over() -> None:
    note = "not among the examples that are randomised"
    assert asked(bare([1, 2]), "randomisation")[0][""].note == note


def test_conservation_by_hand() -> None:
    found = asked(bare([1, 2], ledger=[1, 1.25, 0.5, 1.1]), "conservation")[0][""]
    assert found.value == pytest.approx(0.5)
    assert found.curve == (1, 1.25, 0.5, 1.1)
    assert asked(bare([1, 2]), "conservation")[0][""].note == "the method sends no relevance"


# ---------------------------------------------------------------------------------- properties

whole = st.lists(st.integers(-4, 4), min_size=2, max_size=20).map(
    lambda numbers: [float(n) for n in numbers]
)
different = st.permutations(range(8)).map(lambda numbers: [float(n) for n in numbers])


@few
@given(different)
def test_scores_agree_with_themselves_and_not_with_their_opposite(scores: list[float]) -> None:
    opposite = [-score for score in scores]
    same = bare(scores, runner_up=scores, rivals={"other": scores}, randomised={1: opposite})
    turned = bare(scores, runner_up=opposite, rivals={"other": opposite})
    for metric in ("kendall_confidence", "spearman"):
        assert value(same, metric) == pytest.approx(1)
        assert value(turned, metric) == pytest.approx(-1)
    assert value(same, "spearman", protocol="alti") == pytest.approx(1)
    assert value(same, "kendall_confidence", protocol="attcat") == pytest.approx(1)
    assert value(same, "jaccard") == 1
    assert value(turned, "jaccard") == 0
    assert value(same, "randomisation") == pytest.approx(1)


@few
@given(whole, st.randoms(use_true_random=False))
def test_correlations_are_those_of_the_oracle_with_many_ties(
    scores: list[float], generator: Random
) -> None:
    other = list(scores)
    generator.shuffle(other)
    expected = rank_correlation(scores, other)
    found = statistics.rank_correlation(np.array(scores), np.array(other))
    assert found == pytest.approx(expected, nan_ok=True)
    if len(set(scores)) > 1:
        tau = value(bare(scores, runner_up=other), "kendall_confidence")
        assert tau == pytest.approx(kendall(scores, other))


@few
@given(different, different)
def test_comparisons_are_symmetric(first: list[float], second: list[float]) -> None:
    there = bare(first, runner_up=second, rivals={"other": second})
    back = bare(second, runner_up=first, rivals={"other": first})
    for metric in ("kendall_confidence", "jaccard", "spearman"):
        assert value(there, metric) == pytest.approx(value(back, metric))


@pytest.mark.parametrize("metric", ["jaccard", "spearman"])
def test_rivals_are_held_against_each_other_in_known_ways_only(metric: str) -> None:
    with pytest.raises(InvalidOption, match="Use one of corrected, alti"):
        asked(bare([1, 2]), metric, protocol="best")


def test_a_share_of_tokens_is_not_rounded_up_by_a_rounding_error() -> None:
    scores = list(range(25))
    s = bare(scores, rivals={"other": scores[::-1]})
    (found, _) = asked(s, "jaccard", share=0.56)
    assert found[""].value == pytest.approx(3 / 25)


@pytest.mark.parametrize("protocol", ["corrected", "alti"])
def test_equal_scores_agree_with_none(protocol: str) -> None:
    for own, other in (([1, 2, 3], [1, 1, 1]), ([1, 1, 1], [1, 2, 3]), ([1, 1, 1], [2, 2, 2])):
        assert value(bare(own, rivals={"other": other}), "spearman", protocol=protocol) == 0
    single = bare([1], rivals={"other": [2]})
    assert asked(single, "spearman", protocol=protocol)[0][""].note == "a single score"


def test_two_models_without_an_order_agree_by_chance_only() -> None:
    found = [
        value(bare([1.0] * length, rivals={"other": [2.0] * length}), "jaccard")
        for length in range(12, 40)
    ]
    assert np.mean(found) < 0.4


def test_equal_scores_have_nothing_to_lose_when_weights_are_drawn_again() -> None:
    randomised = {1: [1.0, 2.0, 3.0], 2: [0.0, 0.0, 0.0]}
    assert value(bare([1, 1, 1], randomised=randomised), "randomisation") == 1
    assert value(bare([1, 2, 4], randomised=randomised), "randomisation") == pytest.approx(0.5)
