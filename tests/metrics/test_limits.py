"""AOPC between its limits: orders whose place is known, the oracle, and what the search costs."""

import math
from dataclasses import replace
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight import InvalidOption
from headlight.metrics.limits import limits_of, sizes_of
from headlight.metrics.measuring import finished, measure
from headlight.probing.probe import Outcome, Probe
from tests.metrics import (
    CLS,
    ODDS,
    SEP,
    A,
    B,
    C,
    D,
    Odds,
    answer,
    asked,
    assert_replicated,
    case_of,
    few,
    sentence,
    value,
)
from tests.reference.metrics import Sentence, stepwise_aopc

NOBODY: Any = None


@pytest.mark.parametrize("seed", range(36))
@pytest.mark.parametrize("metric", ["naopc", "naopc_sufficiency"])
def test_measures_are_those_of_the_oracle(metric: str, seed: int) -> None:
    assert_replicated(metric, "", seed)


def bag(count: int) -> tuple[list[int], Odds]:
    """A text of different words, and a model that adds up a weight of each: its best order is known."""
    words = [20 + n for n in range(count)]
    factors = {word: math.exp(((7 * n) % count - count / 2) / 3) for n, word in enumerate(words)}
    return [CLS, *words, SEP], Odds(factors)


@pytest.mark.parametrize("count", [2, 5, 8, 9, 20, 30, 33, 70])
def test_the_true_order_of_a_bag_of_words_has_1_and_its_reverse_0(count: int) -> None:
    ids, model = bag(count)
    weights = [math.log(model.factors.get(token, 1.0)) for token in ids]
    true, false = sentence(ids, weights, model), sentence(ids, [-w for w in weights], model)
    for metric in ("naopc", "naopc_sufficiency"):
        assert value(true, metric) == pytest.approx(1)
        assert value(false, metric) == pytest.approx(0)


def test_all_orders_of_a_short_text_lie_within() -> None:
    s = sentence([CLS, A, B, C, D, SEP], [0.0] * 6)
    every = [
        value(replace(s, scores=[0.0, *order, 0.0]), "naopc")
        for order in permutations([1.0, 2.0, 3.0, 4.0])
    ]
    assert min(every) == pytest.approx(0)
    assert max(every) == pytest.approx(1)


def asked_for(s: Sentence, **options: Any) -> tuple[float, float, int]:
    """The limits of a sentence, and how many different inputs were tried."""
    tried: set[Probe] = set()

    def put(_model: object, probes: Any) -> list[Outcome]:
        tried.update(probes)
        return [answer(s, probe) for probe in probes]

    found = finished(NOBODY, {0: limits_of(case_of(s).subject, **options)}, put)[0]
    return found.least, found.greatest, len(tried)


def test_a_wider_search_costs_more() -> None:
    ids, model = bag(24)
    s = sentence(ids, [0.0] * 26, model)
    counts = [asked_for(s, width=width)[2] for width in (1, 2, 4)]
    assert counts[0] < counts[1] < counts[2]
    assert counts[0] <= 32 * 24


def test_what_is_found_is_the_aopc_of_an_order() -> None:
    ids, model = bag(12)
    s = sentence(ids, [0.0] * 14, model)
    least, greatest, _ = asked_for(s)
    order = sorted(s.removable(), key=lambda p: model.factors[ids[p]])
    assert least == pytest.approx(stepwise_aopc(s, order))
    assert greatest == pytest.approx(stepwise_aopc(s, order[::-1]))


@few
@given(st.integers(1, 300), st.integers(1, 40))
def test_steps_are_equally_large_and_reach_the_end(count: int, steps: int) -> None:
    sizes = sizes_of(count, steps)
    gaps = np.diff([0, *sizes])
    assert len(sizes) <= steps
    assert sizes[-1] == count
    assert all(gap == gaps[0] for gap in gaps[:-1])
    assert 1 <= gaps[-1] <= gaps[0]


def test_methods_share_the_limits() -> None:
    s = sentence([CLS, A, B, C, D, SEP], [0.0, 4.0, 3.0, 2.0, 1.0, 0.0])
    cases = [replace(case_of(s), scores=np.array(s.scores) * sign) for sign in (1, -1)]
    rounds: list[int] = []

    def put(_model: object, probes: Any) -> list[Outcome]:
        rounds.append(len(probes))
        return [answer(s, probe) for probe in probes]

    found = measure(NOBODY, cases, {"naopc": {}}, put)
    # The whole text and its 16 subsets once; then 5 probes of each method.
    assert rounds == [1, 16, 10]
    assert [each["naopc"][""].value for each in found] == pytest.approx([1, 0])


def test_a_text_in_which_no_order_matters_is_passed_over() -> None:
    deaf = sentence([CLS, 30, 31, 32, SEP], [0.0, 1.0, 2.0, 3.0, 0.0], ODDS)
    for metric in ("naopc", "naopc_sufficiency"):
        found = asked(deaf, metric)[0][""]
        assert math.isnan(found.value)
        assert found.note == "the order of removal does not matter here"
        assert asked(sentence([CLS, SEP], [1, 2]), metric)[0][""].note == "no token may be removed"


def test_an_unknown_change_is_refused() -> None:
    with pytest.raises(InvalidOption, match="change='cut' does not exist"):
        asked(sentence([CLS, A, SEP], [0, 1, 0]), "naopc", change="cut")
