"""How methods stand: fronts and orders worked out by hand, on runs that nobody computed."""

import math
from collections.abc import Mapping
from typing import Any

import pytest

from headlight import InvalidInput, Results
from headlight.evaluation.records import AttributionRecord, MeasureRecord, table
from headlight.evaluation.results import InMemory
from headlight.evaluation.settings import Settings
from headlight.evaluation.standings import agreements, base_of, cost_of, standings

COUNT = 6


def run(values: Mapping[str, Mapping[str, float]]) -> Results:
    """A run in which a metric has the same value of a method on every example, but for a little."""
    measures = [
        MeasureRecord(n, method, metric, value + n / 500)
        for metric, by_method in values.items()
        for method, value in by_method.items()
        for n in range(COUNT)
    ]
    methods = dict.fromkeys(method for by_method in values.values() for method in by_method)
    attributions = [AttributionRecord(0, method, "own", scores=[1.0]) for method in methods]
    source = InMemory(table("measure", measures), table("explain", attributions))
    return Results(Settings("none", "f", "made up", "h", COUNT), source, {})


COST = {"quick": 1.0, "poor": 1.5, "good": 2.0, "slow": 50.0, "best": 60.0, "random": 0.5}
SCORE = {"quick": 0.2, "poor": 0.1, "good": 0.5, "slow": 0.4, "best": 0.6, "random": 0.05}


@pytest.mark.parametrize("cost", ["passes", "runtime.passes"])
def test_the_front_is_what_nothing_as_cheap_beats(cost: str) -> None:
    found = standings(run({"naopc": SCORE, cost: COST}), "naopc")
    assert [each.method for each in found] == ["random", "quick", "poor", "good", "slow", "best"]
    assert [each.method for each in found if each.is_on_front] == ["quick", "good", "best"]
    assert found[1].passes == pytest.approx(1.0 + 0.005)
    assert found[1].score.mean == pytest.approx(0.2 + 0.005)


def test_where_less_is_better_the_front_is_below() -> None:
    found = standings(run({"sufficiency": SCORE, "passes": COST}), "sufficiency")
    assert [each.method for each in found if each.is_on_front] == ["quick", "poor"]


def test_of_two_for_the_same_cost_only_the_better_is_on_the_front() -> None:
    found = standings(run({"naopc": {"a": 0.2, "b": 0.3}, "passes": {"a": 2.0, "b": 2.0}}), "naopc")
    assert [(each.method, each.is_on_front) for each in found] == [("b", True), ("a", False)]


def test_counted_passes_come_before_clocked_ones() -> None:
    assert cost_of(run({"runtime.passes": COST, "passes": COST})) == "passes"
    assert cost_of(run({"naopc": SCORE})) is None


@pytest.mark.parametrize(
    ("values", "metric", "message"),
    [
        ({"naopc": SCORE}, "naopc", "Add the metric 'passes' to the run"),
        ({"passes": COST}, "naopc", "'naopc' was not measured in this run"),
    ],
)
def test_what_a_run_does_not_know_is_refused(values: Any, metric: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        standings(run(values), metric)


@pytest.mark.parametrize(
    ("metric", "base"),
    [
        ("aopc", "aopc"),
        ("aopc@mask", "aopc"),
        ("aopc@mask_lrp", "aopc@mask_lrp"),
        ("their@pad.part", "their.part"),
        ("rationale.f1", "rationale.f1"),
    ],
)
def test_a_way_of_removing_is_not_part_of_what_is_measured(metric: str, base: str) -> None:
    assert base_of(metric) == base


def test_orders_of_methods_by_two_fillers() -> None:
    first = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.4}
    swapped = {"a": 0.2, "b": 0.1, "c": 0.3, "d": 0.4}
    reverse = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}
    values = {"aopc": first, "aopc@mask": swapped, "aopc@unknown": reverse, "log_odds": first}
    found = {(each.first, each.second): each for each in agreements(run(values))}
    assert {pair: each.tau for pair, each in found.items()} == pytest.approx(
        {
            ("aopc", "aopc@mask"): 4 / 6,
            ("aopc", "aopc@unknown"): -1,
            ("aopc@mask", "aopc@unknown"): -4 / 6,
        }
    )
    same = found["aopc", "aopc@mask"]
    assert (same.methods, same.examples) == (4, COUNT)
    assert same.low == same.high == pytest.approx(4 / 6), "every example has the same order"


def test_two_methods_have_no_order_worth_comparing() -> None:
    values = {"aopc": {"a": 0.1, "b": 0.2}, "aopc@mask": {"a": 0.1, "b": 0.2}}
    assert list(agreements(run(values))) == []


def test_examples_that_one_side_passed_over_are_left_out() -> None:
    values = {
        "aopc": {"a": 0.1, "b": 0.2, "c": 0.3},
        "aopc@mask": {"a": 0.3, "b": 0.2, "c": math.nan},
    }
    assert list(agreements(run(values))) == []
