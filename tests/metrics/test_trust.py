"""Each verdict on one map sentence by sentence, where one becomes the next, and the numbers behind it."""

from math import inf
from pathlib import Path

import numpy as np
import pytest

from headlight import InvalidInput, Model
from headlight.batch import encode
from headlight.metrics.trust import (
    CLEAR,
    LITTLE,
    ORDERS,
    SENTENCES,
    SLIGHT,
    SOME,
    Trust,
    deletions_of,
    random_orders,
)
from headlight.probing.probe import subject_of
from tests.known import known

RANDOM = tuple(
    (0.9, 0.8 + step, 0.7 + step, 0.6 + step, 0.1) for step in (-0.1, -0.05, 0.0, 0.05, 0.1)
)
"""Random orders whose means are 0.6 to 0.8 between the ends: 0.7 on average, with a deviation of 0.0791."""
SPREAD = float(np.std([0.6, 0.65, 0.7, 0.75, 0.8], ddof=1))


def left(mean: float) -> Trust:
    """The verdict on a map that leaves that much between the ends."""
    return Trust("positive", (0.9, mean + 0.1, mean, mean - 0.1, 0.1), RANDOM)


@pytest.mark.parametrize(
    ("gain", "level", "sentence"),
    [
        (0.4, "good", "Clearly better than chance."),
        (CLEAR * SPREAD + 1e-6, "good", "Clearly better than chance."),
        (CLEAR * SPREAD - 1e-6, "fair", "Somewhat better than chance."),
        (SOME * SPREAD + 1e-6, "fair", "Somewhat better than chance."),
        (SOME * SPREAD - 1e-6, "poor", "No better than chance: do not rely on this map."),
        (0.0, "poor", "No better than chance: do not rely on this map."),
        (-0.15, "poor", "No better than chance: do not rely on this map."),
    ],
)
def test_a_map_is_judged_by_its_lead_over_random_orders(
    gain: float, level: str, sentence: str
) -> None:
    found = left(0.7 - gain)
    assert (found.level, found.sentence) == (level, sentence)


def narrow(gain: float) -> Trust:
    """The verdict on a map beside random orders that hardly differ."""
    random = tuple((0.9, 0.7 + step, 0.7 + step, 0.1) for step in (-0.001, 0.0, 0.001))
    return Trust("positive", (0.9, 0.7 - gain, 0.7 - gain, 0.1), random)


@pytest.mark.parametrize(
    ("gain", "level"),
    [
        (LITTLE + 1e-6, "good"),
        (LITTLE - 1e-6, "fair"),
        (SLIGHT + 1e-6, "fair"),
        (SLIGHT - 1e-6, "poor"),
    ],
)
def test_a_sure_gain_must_also_be_large_enough_to_matter(gain: float, level: str) -> None:
    assert narrow(gain).lead > CLEAR
    assert narrow(gain).level == level


def test_nothing_is_said_where_the_answer_hardly_moves() -> None:
    still = ((0.9, 0.89, 0.88, 0.87, 0.1),) * 5
    found = Trust("positive", (0.9, 0.9 - LITTLE + 0.001, 0.87, 0.88, 0.1), still)
    assert found.level == "unknown"
    assert (
        found.sentence == "Cannot be judged here: the answer hardly changes, whatever is removed."
    )
    moved = Trust("positive", (0.9, 0.9 - LITTLE - 0.001, 0.85, 0.85, 0.1), still)
    assert moved.level != "unknown"
    assert moved.fall == pytest.approx(LITTLE + 0.001)


def test_the_numbers_are_between_the_whole_text_and_nothing() -> None:
    found = left(0.4)
    assert [found.whole, found.mean, found.random_mean] == pytest.approx([0.9, 0.4, 0.7])
    assert found.gain == pytest.approx(0.3)
    assert found.lead == pytest.approx(0.3 / SPREAD)
    assert found.numbers == (
        "Removing its highest-scored words step by step leaves ‘positive’ a probability of 0.40 on average "
        "(with all words it is 0.90); removing random words leaves 0.70."
    )


def test_a_lead_without_any_spread_is_endless_or_none() -> None:
    same = ((0.9, 0.7, 0.1),) * 3
    leads = [Trust("", (0.9, left, 0.1), same).lead for left in (0.5, 0.7, 0.8)]
    assert leads == [inf, 0.0, -inf]


def test_a_curve_of_its_ends_alone_tells_nothing() -> None:
    assert Trust("", (0.9, 0.1), ((0.9, 0.1),)).level == "unknown"


def test_every_level_has_a_sentence() -> None:
    assert sorted(SENTENCES) == ["fair", "good", "poor", "unknown"]


def test_random_orders_are_drawn_by_their_seed() -> None:
    first, again, other = (random_orders(7, seed=seed) for seed in (0, 0, 1))
    assert len(first) == ORDERS
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_row_of_special_tokens_has_no_curve(classifier: Model) -> None:
    row = encode(["film"], known(classifier.tokenizer))[0].take([0, 2])
    with pytest.raises(InvalidInput, match="no curve can be drawn: no token may be removed"):
        deletions_of(classifier, subject_of(classifier, row, [0], [0]), random_orders(2))


def test_the_documentation_says_every_sentence_and_limit() -> None:
    page = Path(__file__).parents[2] / "docs/how-to/read-the-scores.md"
    written = page.read_text(encoding="utf-8")
    for sentence in SENTENCES.values():
        assert f'"{sentence}"' in written
    assert f"lead ≥ {CLEAR} and gain ≥ {LITTLE} " in written
    assert f"lead ≥ {SOME} and gain ≥ {SLIGHT} " in written
    assert f"falls by less than {LITTLE}," in written
