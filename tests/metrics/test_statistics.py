"""Summaries and comparisons: numbers worked out by hand, oracles, properties."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headlight.metrics import statistics
from headlight.metrics.statistics import (
    RESAMPLES,
    Summary,
    chunk_weights,
    compare,
    mean_of_chunks,
    rank_correlation,
    summarise,
)
from tests.metrics import few
from tests.reference import metrics as reference

NAN = math.nan
numbers = st.lists(st.floats(-100, 100), min_size=2, max_size=30)


# ------------------------------------------------------------------------------------ summarise


def test_a_summary_by_hand() -> None:
    found = summarise([1, 2, 3, 4], noted=2)
    assert found.mean == 2.5
    assert found.error == pytest.approx(math.sqrt(5 / 3) / 2)
    assert (found.count, found.passed_over, found.noted) == (4, 0, 2)
    assert 1 <= found.low < 2.5 < found.high <= 4


def test_the_interval_of_two_values_reaches_from_one_to_the_other() -> None:
    found = summarise([1, NAN, 3])
    assert (found.mean, found.low, found.high) == (2, 1, 3)
    assert (found.count, found.passed_over) == (2, 1)


def test_a_weighted_summary_by_hand() -> None:
    found = summarise([0, 1], [1, 3])
    assert found.mean == 0.75
    assert found.error == pytest.approx(0.375)
    assert (found.low, found.high) == (0, 1)


def test_weights_of_values_passed_over_do_not_count() -> None:
    assert summarise([0, NAN, 1], [1, 100, 3]).mean == 0.75


@pytest.mark.parametrize("values", [[], [NAN], [NAN, NAN]])
def test_nothing_is_summed_up_to_nothing(values: list[float]) -> None:
    found = summarise(values)
    assert (found.count, found.passed_over) == (0, len(values))
    assert all(math.isnan(n) for n in (found.mean, found.error, found.low, found.high))


def test_one_value_has_no_error() -> None:
    found = summarise([NAN, 5.0], [2, 7])
    assert (found.mean, found.count, found.passed_over) == (5, 1, 1)
    assert all(math.isnan(n) for n in (found.error, found.low, found.high))


def test_equal_values_have_no_spread() -> None:
    assert summarise([2.0] * 7) == Summary(2, 0, 2, 2, 7)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("is_weighted", [False, True])
def test_summaries_are_those_of_the_oracle(seed: int, is_weighted: bool) -> None:
    generator = np.random.default_rng(seed)
    values = generator.exponential(size=40)
    values[generator.random(40) < 0.1] = NAN
    weights = generator.integers(1, 9, 40).astype(float) if is_weighted else np.ones(40)
    found = summarise(values, weights if is_weighted else None, seed=seed)
    given = (values.tolist(), weights.tolist())
    assert found.mean == pytest.approx(reference.weighted_mean(*given), abs=1e-9)
    assert found.error == pytest.approx(reference.standard_error(*given), abs=1e-9)
    low, high = reference.bootstrap_interval(*given)
    assert found.low == pytest.approx(low, abs=found.error / 5)
    assert found.high == pytest.approx(high, abs=found.error / 5)


@few
@given(numbers)
def test_the_interval_contains_the_mean(values: list[float]) -> None:
    found = summarise(values)
    assert min(values) - 1e-9 <= found.low <= found.mean + 1e-9
    assert found.mean - 1e-9 <= found.high <= max(values) + 1e-9


@few
@given(numbers, st.integers(1, 5))
def test_equal_weights_are_no_weights(values: list[float], weight: int) -> None:
    plain, weighted = summarise(values), summarise(values, [weight] * len(values))
    for name in ("mean", "error", "low", "high"):
        assert getattr(weighted, name) == pytest.approx(getattr(plain, name), abs=1e-9)


@few
@given(numbers, st.integers(0, 5))
def test_values_passed_over_change_only_their_count(values: list[float], count: int) -> None:
    plain, with_holes = summarise(values), summarise([*values, *[NAN] * count])
    assert with_holes == Summary(**{**vars(plain), "passed_over": count})


# -------------------------------------------------------------------------------------- compare


def test_a_comparison_by_hand() -> None:
    found = compare([3, 4, 5, 6, 7], [1, 2, 3, 4, 5])
    assert (found.difference, found.low, found.high, found.count) == (2, 2, 2, 5)
    assert found.p_value == pytest.approx(2 / 32, abs=0.01)


def test_examples_that_either_side_passed_over_are_left_out() -> None:
    found = compare([1, NAN, 3, 5], [0, 9, NAN, 2])
    assert (found.difference, found.count) == (2, 2)


@pytest.mark.parametrize(("first", "second"), [([], []), ([1], [2]), ([1, NAN], [2, 2])])
def test_fewer_than_two_examples_are_not_compared(first: list[float], second: list[float]) -> None:
    found = compare(first, second)
    assert math.isnan(found.difference)
    assert math.isnan(found.p_value)


@pytest.mark.parametrize("seed", range(6))
def test_p_is_that_of_all_changes_of_sign(seed: int) -> None:
    gaps = np.random.default_rng(seed).integers(-3, 9, 5 + seed).tolist()
    found = compare(gaps, [0] * len(gaps), seed=seed)
    assert found.p_value == pytest.approx(reference.sign_test(gaps), abs=0.02)
    assert found.difference == pytest.approx(sum(gaps) / len(gaps))


def test_p_is_never_0() -> None:
    assert compare(range(100, 200), range(100)).p_value == pytest.approx(1 / 10_001)


@few
@given(numbers)
def test_a_method_does_not_differ_from_itself(values: list[float]) -> None:
    found = compare(values, values)
    assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)


@few
@given(st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)), min_size=2, max_size=20))
def test_a_comparison_turned_round_is_the_same(pairs: list[tuple[float, float]]) -> None:
    first, second = zip(*pairs, strict=True)
    there, back = compare(first, second), compare(second, first)
    assert there.difference == pytest.approx(-back.difference, abs=1e-12)
    assert there.low == pytest.approx(-back.high, abs=1e-12)
    assert there.p_value == back.p_value
    assert 0 < there.p_value <= 1


# --------------------------------------------------------------------------------------- chunks


@pytest.mark.parametrize(
    ("values", "processes", "expected"),
    [
        ([*[0] * 10, 6], 5, 1),
        ([*[0] * 872, 872, 872], 10, 2 * 872 / 4 / 11),
        ([1, 2, 3], 10, 2),
        ([1, NAN, 5, 5], 2, 3),
        ([NAN, NAN, 5, 7], 2, 6),
        ([1, 1, 1, 9], 1, 3),
        ([], 10, NAN),
        ([NAN], 10, NAN),
    ],
)
def test_chunks_by_hand(values: list[float], processes: int, expected: float) -> None:
    assert mean_of_chunks(values, processes) == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize("count", [1, 5, 10, 19, 29, 57, 100])
@pytest.mark.parametrize("processes", [1, 3, 10])
def test_chunks_are_those_of_the_oracle(count: int, processes: int) -> None:
    generator = np.random.default_rng(count)
    values = generator.normal(size=count)
    values[generator.random(count) < 0.3] = NAN
    expected = reference.mean_of_chunks(values.tolist(), processes)
    assert mean_of_chunks(values, processes) == pytest.approx(expected, abs=1e-9, nan_ok=True)


@few
@given(st.lists(st.floats(-9, 9), min_size=10, max_size=10), st.integers(1, 4))
def test_equal_chunks_have_the_plain_mean(values: list[float], times: int) -> None:
    assert mean_of_chunks(values * times) == pytest.approx(sum(values) / 10, abs=1e-9)


@pytest.mark.parametrize("scale", [0.1, 1.0, 7.7, 12345.678])
def test_the_scale_of_values_does_not_change_what_chance_does(scale: float) -> None:
    gaps = [8.0, -4.0, 6.0, 3.0, -9.0, -2.0]
    found = compare([scale * gap for gap in gaps], [0.0] * len(gaps))
    assert found.p_value == pytest.approx(0.96875, abs=0.01)


def test_the_interval_of_a_mean_of_chunks_is_around_it() -> None:
    values = [0.0] * 100 + [1.0]
    found = summarise(values, chunk_weights(values))
    assert found.mean == pytest.approx(1 / 11)
    assert found.low <= found.mean <= found.high
    assert mean_of_chunks(values) == found.mean


# -------------------------------------------------------------------------------- many examples


def drawn_at_once(values: np.ndarray, weights: np.ndarray, seed: int) -> tuple[float, float]:
    """The interval from all draws in one matrix."""
    drawn = np.random.default_rng(seed).integers(0, len(values), (RESAMPLES, len(values)))
    means = (values[drawn] * weights[drawn]).sum(1) / weights[drawn].sum(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)


@pytest.mark.parametrize("count", [2, 3, 501, 2_003])
def test_draws_in_pieces_are_the_same_draws(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "AT_ONCE", 7_001)
    generator = np.random.default_rng(count)
    values, weights = generator.normal(3, 1, count), generator.random(count) + 0.5
    found = summarise(values, weights, seed=5)
    assert (found.low, found.high) == drawn_at_once(values, weights, 5)


def test_signs_in_pieces_are_the_same_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = np.random.default_rng(0).normal(0.05, 1, 501)
    whole = compare(gaps, np.zeros(501), seed=3)
    monkeypatch.setattr(statistics, "AT_ONCE", 7_001)
    assert compare(gaps, np.zeros(501), seed=3) == whole


def test_many_examples_have_the_interval_that_their_error_gives() -> None:
    generator = np.random.default_rng(1)
    values, weights = generator.exponential(2, 200_000), generator.random(200_000) + 0.5
    found = summarise(values, weights)
    # The mean of so many examples is normal; 2,000 resamples know the ends of its interval to about 6 %.
    assert found.mean - found.low == pytest.approx(1.96 * found.error, rel=0.12)
    assert found.high - found.mean == pytest.approx(1.96 * found.error, rel=0.12)


def test_many_pairs_are_told_apart_or_not() -> None:
    generator = np.random.default_rng(2)
    first = generator.normal(0, 1, 100_000)
    assert compare(first + 0.02, generator.normal(0, 1, 100_000)).p_value < 0.01
    assert compare(first, generator.normal(0, 1, 100_000)).p_value > 0.05


def test_a_million_examples_need_little_memory() -> None:
    values = np.random.default_rng(0).random(1_000_000)
    tracemalloc.start()
    found = summarise(values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.low < 0.5 < found.high
    assert peak < 200e6


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([1, 2, 3], [10, 20, 30], 1),
        ([1, 2, 3], [3, 2, 1], -1),
        ([1, 2, 2], [1, 2, 3], math.sqrt(3) / 2),
        ([1, 1, 1], [1, 2, 3], math.nan),
        ([1, 2, 3], [0, 0, 0], math.nan),
        ([1], [2], math.nan),
        ([], [], math.nan),
    ],
)
def test_ranks_are_compared_and_constant_ones_have_no_order(
    first: list[float], second: list[float], expected: float
) -> None:
    found = rank_correlation(np.array(first, np.float64), np.array(second, np.float64))
    assert found == pytest.approx(expected, nan_ok=True)
