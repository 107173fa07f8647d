"""Metrics that take tokens away: numbers worked out by hand, oracles, properties, what is refused."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import InvalidOption
from headlight.metrics.curves import AS_RELEASED, BINS, ERASER_WALK, Walk
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
    Odds,
    asked,
    assert_replicated,
    case_of,
    few,
    protocols,
    sentence,
    value,
)
from tests.reference.metrics import NINTHS, TENTHS, Sentence, half_up

F = 20
"""A token that changes nothing."""
SHORT = (CLS, A, B, C, D, SEP)
LONG = (CLS, A, B, C, D, *[F] * 14, SEP)
FOUR = ("aopc", "log_odds", "comprehensiveness", "sufficiency")
CURVES = (*FOUR, "probability_drop", "hiding", "revealing")


def ordered(ids: Sequence[int], order: Sequence[int], **facts: Any) -> Sentence:
    """A sentence whose scores put positions in this order, those not named last."""
    scores = [0.0] * len(ids)
    for rank, position in enumerate(order):
        scores[position] = float(len(ids) - rank)
    return sentence(ids, scores, **facts)


FALLING = ordered(SHORT, [1, 2, 3, 4])


@pytest.mark.parametrize("seed", range(18))
@pytest.mark.parametrize(("metric", "protocol"), protocols(*CURVES))
def test_curves_are_those_of_the_oracle(metric: str, protocol: str, seed: int) -> None:
    assert_replicated(metric, protocol, seed)


# ------------------------------------------------------------------------- aopc and log-odds


def test_aopc_by_hand() -> None:
    found, probes = asked(FALLING, "aopc")
    a, ab, abc, nothing = 3 / 4 - 1 / 3, 3 / 4 - 1 / 5, 3 / 4 - 1 / 3, 3 / 4 - 1 / 2
    curve = [0, a, a, ab, ab, ab, abc, abc, nothing, nothing]
    assert found[""].value == pytest.approx(229 / 600)
    assert found[""].curve == pytest.approx(curve)
    assert found[""].levels == (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
    assert [probe.ids for probe in probes[:5]] == [
        SHORT,
        SHORT,
        (CLS, B, C, D, SEP),
        (CLS, B, C, D, SEP),
        (CLS, C, D, SEP),
    ]
    assert probes[-1].ids == (CLS, SEP)


def test_log_odds_by_hand() -> None:
    total = 4 * log(4 / 9) + 3 * log(4 / 15) + 2 * log(2 / 3)
    assert value(FALLING, "log_odds") == pytest.approx(total / 10)


RANKS = [0, 1, 5, 6, 2, 19, 7, 8, 9, 10, 11, 3, 12, 13, 14, 15, 16, 17, 18, 4]
"""[CLS] first, then A; B fifth, [SEP] sixth, C twelfth, D last of twenty."""


def test_mask_lrp_by_hand() -> None:
    s = ordered(LONG, RANKS)
    found, probes = asked(s, "aopc", protocol="mask_lrp")
    a, ab, abc = 3 / 4 - 1 / 3, 3 / 4 - 1 / 5, 3 / 4 - 1 / 3
    assert found[""].curve == pytest.approx([a, a, ab, ab, ab, abc, abc, abc, abc])
    assert found[""].value == pytest.approx(4.15 / 9)
    assert found[""].levels == tuple(n / 9 for n in range(1, 10))
    assert probes[1].ids == (CLS, PAD, *LONG[2:])
    assert probes[-1].ids == (CLS, PAD, PAD, PAD, D, *[PAD] * 14, SEP)
    assert all(all(probe.attended) for probe in probes)
    assert value(s, "log_odds", protocol="mask_lrp") == pytest.approx(
        (6 * log(4 / 9) + 3 * log(4 / 15)) / 9
    )


def test_attcat_by_hand() -> None:
    ids = (CLS, A, B, C, D, F, F, F, F, SEP)
    s = ordered(ids, [4, 0, 3, 5, 6, 1, 9, 2, 7, 8])
    found, probes = asked(s, "aopc", protocol="attcat")
    d, dc, dca, dcab = 3 / 28, 9 / 52, 1 / 12, 1 / 4
    assert found[""].curve == pytest.approx([d, d, dc, dc, dca, dca, dcab, dcab, dcab])
    assert probes[1].ids == (CLS, A, B, C, F, F, F, F, SEP)
    assert probes[-1].ids == (CLS, F, SEP)
    found, probes = asked(s, "log_odds", protocol="attcat")
    total = 2 * log(8 / 7) + 2 * log(16 / 13) + 2 * log(8 / 9) + 3 * log(2 / 3)
    assert found[""].value == pytest.approx(total / 9)
    assert probes[-1].ids == (CLS, PAD, PAD, PAD, PAD, PAD, PAD, PAD, F, SEP)
    assert all(probes[-1].attended)


@pytest.mark.parametrize("metric", ["aopc", "log_odds"])
@pytest.mark.parametrize(("protocol", "shortest"), [("mask_lrp", 20), ("attcat", 10)])
def test_short_texts_are_passed_over(metric: str, protocol: str, shortest: int) -> None:
    for length, is_measured in ((shortest - 1, False), (shortest, True)):
        s = sentence([CLS, A, *[F] * (length - 3), SEP], range(length))
        found = asked(s, metric, protocol=protocol)[0][""]
        assert math.isnan(found.value) != is_measured
        assert found.note == ("" if is_measured else f"shorter than {shortest} tokens")


@pytest.mark.parametrize("metric", CURVES)
def test_a_text_of_special_tokens_is_passed_over(metric: str) -> None:
    found, probes = asked(sentence([CLS, SEP], [1, 2], gold=1), metric)
    assert found[""].note == "no token may be removed"
    assert math.isnan(found[""].value)
    assert not probes


def test_small_probabilities_are_clipped_and_noted() -> None:
    model = Odds({A: 1e20, B: 1e-20})
    s = sentence([CLS, A, B, SEP], [0, 2, 1, 0], model)
    found = asked(s, "log_odds")[0][""]
    assert found.curve == pytest.approx([0, 0, *[log(2e-12)] * 5, 0, 0, 0])
    assert found.note == "5 probabilities below 1e-12"
    s = sentence([CLS, B, SEP], [0, 1, 0], Odds({B: 0.0}), label=1)
    found = asked(s, "log_odds", levels=[0.0, 1.0])[0][""]
    assert found.curve == pytest.approx([0, log(0.5e12)])
    assert found.note == "2 probabilities below 1e-12"


def test_equal_scores_are_taken_in_an_order_that_depends_on_the_text_only() -> None:
    first = [asked(sentence(SHORT, [score] * 6), "aopc")[1] for score in (7, 0, -2)]
    assert first[0] == first[1] == first[2]
    long = (CLS, *[A, B, C, D] * 5, SEP)
    orders = set()
    for turn in range(4):
        ids = (CLS, *long[1 + turn : -1], SEP)
        orders.add(tuple(case_of(sentence(ids, [1.0] * len(ids))).ranked()))
    assert len(orders) == 4
    assert all(order != tuple(sorted(order)) for order in orders)


def test_a_token_where_the_decision_is_read_stays() -> None:
    found, probes = asked(ordered(SHORT, [1, 2, 3, 4], kept=[2]), "aopc", levels=[1.0])
    assert probes[-1].ids == (CLS, B, SEP)
    assert probes[-1].positions == (1,)
    assert found[""].value == pytest.approx(3 / 4 - 2 / 3)


@pytest.mark.parametrize(
    ("change", "ids", "attended"),
    [
        ("delete", (CLS, C, D, SEP), (1, 1, 1, 1)),
        ("mask", (CLS, MASK, MASK, C, D, SEP), (1, 1, 1, 1, 1, 1)),
        ("pad", (CLS, PAD, PAD, C, D, SEP), (1, 0, 0, 1, 1, 1)),
        ("hide", (CLS, MASK, MASK, C, D, SEP), (1, 0, 0, 1, 1, 1)),
        ("pad_attended", (CLS, PAD, PAD, C, D, SEP), (1, 1, 1, 1, 1, 1)),
    ],
)
@pytest.mark.parametrize("metric", ["aopc", "log_odds", "comprehensiveness"])
def test_tokens_are_changed_as_asked(
    metric: str, change: str, ids: tuple[int, ...], attended: tuple[int, ...]
) -> None:
    _, probes = asked(FALLING, metric, change=change, levels=[0.5])
    assert probes[-1].ids == ids
    assert probes[-1].attended == attended


def test_probability_drop_by_hand() -> None:
    found, probes = asked(FALLING, "probability_drop")
    curve = [5 / 12, 11 / 20, 5 / 12, *[1 / 4] * 27]
    assert found[""].curve == pytest.approx(curve)
    assert found[""].value == pytest.approx(sum(curve) / 30)
    assert found[""].levels == tuple(range(1, 31))
    assert [probe.ids for probe in probes[4:]] == [(CLS, SEP)] * 27
    found, probes = asked(FALLING, "probability_drop", most=2, change="mask")
    assert found[""].value == pytest.approx((5 / 12 + 11 / 20) / 2)
    assert probes[-1].ids == (CLS, MASK, MASK, C, D, SEP)
    with pytest.raises(InvalidOption, match="most=0 is not possible"):
        asked(FALLING, "probability_drop", most=0)


# --------------------------------------------------------- comprehensiveness and sufficiency


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("corrected", (4 * 5 / 12 + 1 / 4) / 5),
        ("eraser", (4 * 5 / 12 + 1 / 4) / 6),
        ("alti", 5 * (5 / 12) / 6),
    ],
)
def test_comprehensiveness_by_hand(protocol: str, expected: float) -> None:
    s = ordered(SHORT, [1, 4, 2, 3])
    assert value(s, "comprehensiveness", protocol=protocol) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("order", "protocol", "expected"),
    [
        ([1, 4, 2, 3], "corrected", -4 * (3 / 28) / 5),
        ([1, 4, 2, 3], "eraser", -4 * (3 / 28) / 6),
        ([1, 4, 2, 3], "alti", -5 * (3 / 28) / 6),
        ([4, 3, 2, 1], "corrected", (4 * 5 / 12 + 11 / 20) / 5),
        ([4, 3, 2, 1], "alti", 5 * (1 / 4) / 6),
    ],
)
def test_sufficiency_by_hand(order: list[int], protocol: str, expected: float) -> None:
    assert value(ordered(SHORT, order), "sufficiency", protocol=protocol) == pytest.approx(expected)


def test_bins_are_rounded_up() -> None:
    s = sentence([CLS, *[F] * 40, SEP], range(42))
    found, probes = asked(s, "comprehensiveness")
    assert [42 - len(probe) for probe in probes] == [0, 1, 2, 4, 8, 20]
    assert found[""].levels == BINS
    _, probes = asked(s, "sufficiency")
    assert [len(probe) - 2 for probe in probes] == [40, 0, 1, 2, 4, 8, 20]


# -------------------------------------------------------------------------------------- games


@pytest.mark.parametrize(
    ("metric", "gold", "area"),
    [("hiding", 1, 0.15), ("hiding", 0, 0.85), ("revealing", 1, 0.85), ("revealing", 0, 0.15)],
)
def test_games_by_hand(metric: str, gold: int, area: float) -> None:
    s = ordered(SHORT, [1, 2, 3, 4], gold=gold)
    found, probes = asked(s, metric)
    assert found[""].value == pytest.approx(area)
    expected = [1, 1, *[0] * 9] if metric == "hiding" else [0, 0, *[1] * 9]
    assert [right == gold for right in found[""].curve] == [bool(e) for e in expected]
    everything = (CLS, MASK, MASK, MASK, MASK, SEP)
    assert probes[-1 if metric == "hiding" else 0].ids == everything
    assert probes[-1 if metric == "hiding" else 0].attended == (1, 0, 0, 0, 0, 1)
    assert probes[0 if metric == "hiding" else -1].ids == SHORT


@pytest.mark.parametrize("metric", ["hiding", "revealing"])
def test_a_game_without_a_label_is_passed_over(metric: str) -> None:
    assert asked(FALLING, metric)[0][""].note == "no label"


@pytest.mark.parametrize("metric", ["hiding", "revealing"])
def test_random_games_are_the_mean_of_twenty_orders(metric: str) -> None:
    s = ordered(SHORT, [1, 2, 3, 4], gold=1)
    found, probes = asked(s, metric, method="random")
    assert len(probes) == 20 * 11
    games = [probes[n : n + 11] for n in range(0, 220, 11)]
    assert len({tuple(game) for game in games}) > 5
    for game in games:
        hidden = [{p for p, seen in enumerate(probe.attended) if not seen} for probe in game]
        steps = hidden if metric == "hiding" else hidden[::-1]
        assert all(a <= b for a, b in pairwise(steps))
        counts = [0, 0, 1, 1, 2, 2, 2, 3, 3, 4, 4]
        assert list(map(len, hidden)) == (
            counts if metric == "hiding" else [4 - count for count in counts]
        )
    right = [[ODDS.odds(p.ids, p.attended) > 1 for p in game] for game in games]
    curve = [sum(game[n] for game in right) / 20 for n in range(11)]
    assert found[""].curve == pytest.approx(curve)
    assert found[""].value == pytest.approx((sum(curve) - (curve[0] + curve[-1]) / 2) / 10)
    assert asked(s, metric, method="random")[1] == probes
    assert len(asked(s, metric, method="random", draws=3)[1]) == 3 * 11


# -------------------------------------------------------------------------------- completeness


# -------------------------------------------------------------------------------------- levels


@pytest.mark.parametrize("length", range(1, 61))
def test_levels_are_rounded_as_written(length: int) -> None:
    assert Walk().counts(length) == [half_up(tenth * length) for tenth in TENTHS]
    assert ERASER_WALK.counts(length) == [
        math.ceil(Fraction(str(share)) * length) for share in BINS
    ]
    rounded = {round(ninth * length) for ninth in NINTHS}
    assert AS_RELEASED.counts(length) == sorted(rounded - {0})


def test_halves_are_rounded_up_or_to_even() -> None:
    assert Walk(levels=(0.5,)).counts(25) == [13]
    assert Walk(levels=(0.5,), rounding="half_even").counts(25) == [12]
    assert Walk(levels=(0.5,), rounding="half_even").counts(27) == [14]


def test_levels_are_the_callers() -> None:
    found = asked(FALLING, "aopc", levels=[0.0, 0.25, 1.0])[0][""]
    assert found.levels == (0.0, 0.25, 1.0)
    assert found.curve == pytest.approx([0, 5 / 12, 1 / 4])


def test_a_released_walk_leaves_out_levels_that_reach_nothing() -> None:
    s = ordered(LONG, RANKS)
    found = asked(s, "aopc", protocol="mask_lrp", levels=[0.0, 0.1, 0.11, 1.0])[0][""]
    assert found.levels == (0.1, 1.0)
    assert found.curve == pytest.approx([5 / 12, 5 / 12])


# ------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize("metric", FOUR)
def test_an_unknown_protocol_is_refused(metric: str) -> None:
    known = {"aopc": "corrected, mask_lrp, attcat", "log_odds": "corrected, mask_lrp, attcat"}
    names = known.get(metric, "corrected, eraser, alti")
    message = f"protocol='best' does not exist here. Use one of {names}."
    with pytest.raises(InvalidOption, match=message):
        asked(FALLING, metric, protocol="best")


@pytest.mark.parametrize("metric", FOUR)
def test_an_unknown_change_is_refused(metric: str) -> None:
    message = (
        "change='blur' does not exist. Use one of delete, mask, unknown, pad, hide, pad_attended."
    )
    with pytest.raises(InvalidOption, match=message):
        asked(FALLING, metric, change="blur")


@pytest.mark.parametrize("metric", FOUR)
@pytest.mark.parametrize("level", [-0.1, 1.1, math.nan])
def test_levels_that_are_no_shares_are_refused(metric: str, level: float) -> None:
    with pytest.raises(InvalidOption, match=r"levels=\(0.5, .*\) are not shares of a text"):
        asked(FALLING, metric, levels=[0.5, level])


@pytest.mark.parametrize("metric", FOUR)
def test_masking_needs_a_mask_token(metric: str) -> None:
    s = sentence(SHORT, range(6), mask_id=None)
    message = (
        "change='mask' needs a mask token, which this model does not have. Use 'delete' or 'pad'."
    )
    with pytest.raises(InvalidOption, match=message):
        asked(s, metric, change="mask")


# ---------------------------------------------------------------------------------- properties

tokens = st.lists(st.sampled_from([CLS, A, B, C, D, F]), min_size=1, max_size=12)


@st.composite
def sentences(draw: st.DrawFn) -> Sentence:
    ids = draw(tokens.filter(lambda some: any(token != CLS for token in some)))
    ranks = st.lists(st.integers(-3, 3), min_size=len(ids), max_size=len(ids))
    return sentence(ids, [float(rank) for rank in draw(ranks)], gold=1)


@few
@given(sentences())
def test_every_level_takes_more_away(s: Sentence) -> None:
    _, probes = asked(s, "aopc", change="hide")
    hidden = [{p for p, seen in enumerate(probe.attended) if not seen} for probe in probes]
    assert all(a <= b for a, b in pairwise(hidden))
    assert hidden[0] == set()
    assert hidden[-1] == set(s.removable())


@few
@given(sentences(), st.sampled_from(FOUR))
def test_only_the_order_of_scores_matters(s: Sentence, metric: str) -> None:
    other = sentence(s.ids, [math.exp(score) * 3 - 7 for score in s.scores])
    assert asked(s, metric) == asked(other, metric)


@few
@given(sentences())
def test_no_order_beats_that_of_the_models_own_weights(s: Sentence) -> None:
    best = sentence(s.ids, [ODDS.factors.get(token, 1.0) for token in s.ids])
    assert value(s, "aopc") <= value(best, "aopc") + 1e-12
    assert value(s, "log_odds") >= value(best, "log_odds") - 1e-12
    assert value(s, "comprehensiveness") <= value(best, "comprehensiveness") + 1e-12
    assert value(s, "sufficiency") >= value(best, "sufficiency") - 1e-12


@few
@given(sentences())
def test_all_or_nothing(s: Sentence) -> None:
    special = [token for token in s.ids if token == CLS]
    empty = s.predict(special or [PAD], [True] * max(1, len(special)))[1]
    gained = s.predict(s.ids, s.seen)[1] - empty
    assert value(s, "aopc", levels=[1.0]) == pytest.approx(gained)
    assert value(s, "comprehensiveness", levels=[1.0]) == pytest.approx(gained)
    assert value(s, "sufficiency", levels=[1.0]) == pytest.approx(0)
    assert value(s, "sufficiency", levels=[0.0]) == pytest.approx(gained)
    assert value(s, "aopc", levels=[0.0]) == pytest.approx(0)


@few
@given(sentences())
def test_games_of_opposite_orders_mirror_each_other(s: Sentence) -> None:
    hidden = asked(s, "hiding", levels=(0.0, 0.5, 1.0))[0][""].curve
    revealed = asked(s, "revealing", levels=(0.0, 0.5, 1.0))[0][""].curve
    assert hidden[0] == revealed[-1]
    assert hidden[-1] == revealed[0]
    assert all(0 <= share <= 1 for share in (*hidden, *revealed))


@pytest.mark.parametrize("metric", ["hiding", "revealing"])
@pytest.mark.parametrize("options", [{"levels": (0, 2)}, {"levels": (0.5,)}, {"draws": 0}])
def test_games_that_cannot_be_played_are_refused(metric: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidOption, match=r"are not shares of a text|draws=0"):
        asked(FALLING, metric, **options)


@pytest.mark.parametrize("metric", FOUR)
def test_no_levels_are_refused(metric: str) -> None:
    with pytest.raises(InvalidOption, match="Use 1 or more numbers from 0 to 1"):
        asked(FALLING, metric, levels=())


def test_levels_are_walked_in_their_order() -> None:
    one, other = (
        asked(FALLING, "aopc", levels=levels)[0][""] for levels in ((1.0, 0.5), (0.5, 1.0))
    )
    assert one == other
