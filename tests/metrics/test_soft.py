"""Elements of embeddings that are left out: shares worked out by hand, the oracle, properties."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import InvalidOption
from headlight.metrics.soft import SHARES, by_rank, in_proportion
from tests.metrics import (
    CLS,
    SEP,
    A,
    B,
    C,
    D,
    asked,
    assert_replicated,
    few,
    protocols,
    sentence,
    value,
)

KIND = ("soft_comprehensiveness", "soft_sufficiency")
SHORT = (CLS, A, B, C, D, SEP)
TRUE = [0.0, 4.0, 3.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("seed", range(18))
@pytest.mark.parametrize(("metric", "protocol"), protocols(*KIND))
def test_measures_are_those_of_the_oracle(metric: str, protocol: str, seed: int) -> None:
    assert_replicated(metric, protocol, seed)


def test_shares_by_hand() -> None:
    assert by_rank(4, 0.5).tolist() == pytest.approx([7 / 8, 5 / 8, 3 / 8, 1 / 8])
    assert by_rank(2, 0.2).tolist() == pytest.approx([0.3, 0.1])
    assert by_rank(2, 0.8).tolist() == pytest.approx([0.9, 0.7])
    assert in_proportion(np.array([4.0, 2.0, 1.0, 1.0]), 0.25).tolist() == [0.5, 0.25, 0.125, 0.125]
    assert in_proportion(np.array([4.0, 2.0, 1.0, 1.0]), 0.5).tolist() == [1, 0.5, 0.25, 0.25]
    assert in_proportion(np.array([4.0, 0.0, 0.0, 0.0]), 0.5).tolist() == pytest.approx(
        [1, 1 / 3, 1 / 3, 1 / 3]
    )
    assert in_proportion(np.zeros(3), 0.3).tolist() == pytest.approx([0.3] * 3)


@few
@given(
    st.lists(st.floats(0, 1e6), min_size=1, max_size=30),
    st.sampled_from(SHARES),
)
def test_the_mean_share_is_held_whatever_the_scores(sizes: list[float], mean: float) -> None:
    for shares in (by_rank(len(sizes), mean), in_proportion(np.array(sizes), mean)):
        assert shares.mean() == pytest.approx(mean)
        assert shares.min() >= 0
        assert shares.max() <= 1 + 1e-12


def test_the_highest_scores_lose_or_keep_most() -> None:
    for metric, is_falling in (("soft_sufficiency", True), ("soft_comprehensiveness", False)):
        s = sentence(SHORT, [0.0, 4.0, 3.0, 2.0, 1.0, 0.0])
        found, probes = asked(s, metric, draws=2, seed=5)
        assert [probe.draw for probe in probes[1:5]] == [5, 6, 5, 6]
        assert len(probes) == 1 + 9 * 2
        kept = probes[9].kept
        assert kept is not None
        ordered = list(kept[1:5])
        assert ordered == sorted(ordered, reverse=is_falling)
        assert kept[0] == kept[5] == 1
        assert probes[9].ids == SHORT
        assert found[""].levels == SHARES
        assert len(found[""].curve) == 9


def test_the_right_order_is_better_than_the_wrong_one() -> None:
    right, wrong = sentence(SHORT, TRUE), sentence(SHORT, [-score for score in TRUE])
    assert value(right, "soft_comprehensiveness") > value(wrong, "soft_comprehensiveness")
    assert value(right, "soft_sufficiency") < value(wrong, "soft_sufficiency")


@pytest.mark.parametrize("metric", KIND)
def test_only_the_order_matters(metric: str) -> None:
    bent = sentence(SHORT, [0.0, math.exp(4), 3.0, 2.9, -7.0, 0.0])
    assert asked(bent, metric) == asked(sentence(SHORT, [0.0, 4.0, 3.0, 2.0, 1.0, 0.0]), metric)


@pytest.mark.parametrize("metric", KIND)
def test_what_cannot_be_measured(metric: str) -> None:
    assert asked(sentence([CLS, SEP], [1, 2]), metric)[0][""].note == "no token may be removed"
    with pytest.raises(InvalidOption, match="Use one of corrected, proportional"):
        asked(sentence(SHORT, TRUE), metric, protocol="hard")
