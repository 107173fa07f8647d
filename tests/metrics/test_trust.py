"""Each verdict on a method's curve, and where one becomes the next."""

import pytest

from headlight.metrics.trust import LITTLE, SENTENCES, trust_in

RANDOM = [
    [0.9, 0.8 + step, 0.7 + step, 0.6 + step, 0.1] for step in (-0.02, -0.01, 0.0, 0.01, 0.02)
]
"""Random orders that differ a little; their mean is 0.7 between the ends, their low quantile 0.016 below it."""


@pytest.mark.parametrize(
    ("curve", "level", "sentence"),
    [
        ([0.9, 0.4, 0.3, 0.2, 0.1], "good", "Clearly better than chance."),
        ([0.9, 0.78, 0.68, 0.58, 0.1], "fair", "Somewhat better than chance."),
        ([0.9, 0.8, 0.69, 0.5, 0.1], "fair", "Somewhat better than chance."),
        ([0.9, 0.8, 0.7, 0.6, 0.1], "poor", "No better than chance: do not rely on this map."),
        ([0.9, 0.9, 0.9, 0.85, 0.1], "poor", "No better than chance: do not rely on this map."),
    ],
)
def test_a_curve_is_judged_by_its_place_among_random_ones(
    curve: list[float], level: str, sentence: str
) -> None:
    trust = trust_in(curve, RANDOM)
    assert (trust.level, trust.sentence) == (level, sentence)


def test_nothing_is_said_where_the_answer_hardly_moves() -> None:
    still = [[0.9, 0.89, 0.88, 0.87, 0.1]] * 5
    trust = trust_in([0.9, 0.9 - LITTLE + 0.001, 0.87, 0.88, 0.1], still)
    assert trust.level == "unknown"
    assert (
        trust.sentence == "Cannot be judged here: the answer hardly changes, whatever is removed."
    )
    assert trust_in([0.9, 0.9 - LITTLE - 0.001, 0.87, 0.88, 0.1], still).level == "fair"


def test_a_gain_at_few_levels_is_not_clear() -> None:
    few = [0.9, 0.5, 0.7, 0.6, 0.1]
    assert trust_in(few, RANDOM).level == "fair"
    assert trust_in([0.9, 0.5, 0.6, 0.6, 0.1], RANDOM).level == "good"


def test_means_are_between_the_whole_text_and_nothing() -> None:
    trust = trust_in([0.9, 0.5, 0.4, 0.3, 0.1], RANDOM)
    assert trust.mean == pytest.approx(0.4)
    assert trust.random_mean == pytest.approx(0.7)


def test_a_curve_of_its_ends_alone_tells_nothing() -> None:
    assert trust_in([0.9, 0.1], [[0.9, 0.1]]).level == "unknown"


def test_every_level_has_a_sentence() -> None:
    assert sorted(SENTENCES) == ["fair", "good", "poor", "unknown"]
