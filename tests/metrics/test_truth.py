"""Tokens that are known to decide: numbers worked out by hand, and those of the oracles."""

import math

import pytest

from headlight.metrics.truth import expected_reciprocal
from tests.metrics import CLS, SEP, asked, assert_replicated, sentence, value
from tests.reference.metrics import Sentence

KIND = ("pointing", "truth_rank", "truth_mass")


def marked(scores: list[float], *marks: int) -> Sentence:
    """[CLS] and [SEP] around tokens of which some are marked, counted from 1."""
    ids = [CLS, *range(10, 10 + len(scores)), SEP]
    return sentence(ids, [9.0, *scores, 9.0], marks=[p in marks for p in range(len(ids))])


@pytest.mark.parametrize("seed", range(36))
@pytest.mark.parametrize("metric", KIND)
def test_measures_are_those_of_the_oracle(metric: str, seed: int) -> None:
    assert_replicated(metric, "", seed)


@pytest.mark.parametrize(
    ("scores", "marks", "expected"),
    [
        ([5.0, 1.0, 2.0, -2.0], [1], (1, 1, 5 / 8)),
        ([1.0, 5.0, 2.0, -2.0], [1], (0, 1 / 3, 1 / 8)),
        ([1.0, 5.0, 2.0, -2.0], [1, 3], (0, 1 / 2, 3 / 8)),
        ([-1.0, -5.0, -2.0, -3.0], [3], (0, 1 / 2, 0)),
        ([4.0, 4.0, 1.0, 1.0], [2], (1 / 2, 3 / 4, 4 / 10)),
        ([2.0, 2.0, 2.0, 2.0], [2], (1 / 4, (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4, 1 / 4)),
    ],
)
def test_by_hand(scores: list[float], marks: list[int], expected: tuple[float, ...]) -> None:
    found = tuple(value(marked(scores, *marks), metric) for metric in KIND)
    assert found == pytest.approx(expected)


def test_ranks_among_equal_scores_are_means_over_their_orders() -> None:
    # Of three equal scores behind one, two are known: first at rank 2 in two of three orders, else at rank 3.
    assert expected_reciprocal(1, 3, 2) == pytest.approx(2 / 3 / 2 + 1 / 3 / 3)
    assert expected_reciprocal(0, 5, 5) == 1


@pytest.mark.parametrize("metric", KIND)
def test_without_known_tokens_there_is_nothing_to_find(metric: str) -> None:
    for s in (marked([1.0, 2.0]), marked([1.0, 2.0], 1, 2), sentence([CLS, 10, SEP], [0, 1, 0])):
        found = asked(s, metric)[0][""]
        assert math.isnan(found.value)
        assert found.note == "all tokens or none are marked"
