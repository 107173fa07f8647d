"""Scores of removed units are what the formulas say, on hand-made log-probabilities."""

from itertools import combinations, permutations, product

import numpy as np
import pytest

from headlight import InvalidInput
from headlight.answer import Numbers
from headlight.explaining.ablation import (
    ABLATIONS,
    context_cite,
    drawn_cases,
    leave_one_out,
    logit,
    source_shapley,
    standardised_lasso,
)
from headlight.explaining.removal import Divided, Kept, Removal
from headlight.models.model import Task
from tests.networks import model

LENGTHS = (3, 1)


def table(count: int, seed: int = 0) -> dict[Kept, Numbers]:
    """A log-probability of two parts for every choice of units."""
    draw = np.random.default_rng(seed)
    effects, crossed = draw.normal(size=(count, 2)), draw.normal(size=(count, count, 2))
    found = {}
    for case in product((True, False), repeat=count):
        flags = np.array(case, float)
        found[case] = -9 - flags @ effects - np.einsum("i,j,ijp->p", flags, flags, crossed) ** 2 / 9
    return found


def removal_of(known: dict[Kept, Numbers]) -> Removal:
    """A removal that has read everything already."""
    count = len(next(iter(known)))
    ids = tuple(range(10, 10 + count + 4))
    text = Divided(ids, tuple(range(count)), ((count, count + 2), (count + 3, count + 3)))
    assert text.part_lengths == LENGTHS
    return Removal(model("llama", Task.CAUSAL), text, known=dict(known))


def all_but(count: int, unit: int) -> Kept:
    return tuple(n != unit for n in range(count))


def test_leaving_one_out_is_a_difference() -> None:
    known = table(4)
    found = leave_one_out(removal_of(known))
    for unit in range(4):
        expected = known[(True,) * 4] - known[all_but(4, unit)]
        assert np.allclose(found.scores[:, unit], expected, atol=1e-12)
    assert np.allclose(found.value, known[(True,) * 4] - known[(False,) * 4])


def test_exact_shapley_values_are_means_over_all_orders() -> None:
    known = table(4)
    found = source_shapley(removal_of(known))
    expected = np.zeros((2, 4))
    for order in permutations(range(4)):
        for place, unit in enumerate(order):
            before = tuple(n in order[:place] for n in range(4))
            after = tuple(n in order[: place + 1] for n in range(4))
            expected[:, unit] += (known[after] - known[before]) / 24
    assert np.allclose(found.scores, expected, atol=1e-12)
    assert np.allclose(found.scores.sum(1), found.value, atol=1e-12)


def test_sampled_shapley_values_are_seeded_complete_and_near_the_exact_ones() -> None:
    known = table(9)
    exact = np.zeros((2, 9))
    weights = [1 / (9 * len(list(combinations(range(8), size)))) for size in range(9)]
    for case in known:
        for unit in (n for n in range(9) if not case[n]):
            more = (*case[:unit], True, *case[unit + 1 :])
            exact[:, unit] += weights[sum(case)] * (known[more] - known[case])
    one = source_shapley(removal_of(known), samples=400, seed=1)
    assert np.allclose(one.scores.sum(1), one.value, atol=1e-9)
    assert np.abs(one.scores - exact).max() < 0.15 * np.abs(exact).max()
    few = [source_shapley(removal_of(known), samples=3, seed=seed).scores for seed in (1, 1, 2)]
    assert np.array_equal(few[0], few[1])
    assert not np.allclose(few[0], few[2])


def slow_lasso(kept: Numbers, values: Numbers, alpha: float) -> Numbers:
    """The same minimum by small steps against the gradient, each followed by shrinking."""
    scale = kept.std(0)
    columns = (kept - kept.mean(0)) / scale
    weights = np.zeros(kept.shape[1])
    step = 0.5 / np.linalg.eigvalsh(columns.T @ columns / len(values)).max()
    for _ in range(20_000):
        slope = columns.T @ (columns @ weights + values.mean() - values) / len(values)
        moved = weights - step * slope
        weights = np.sign(moved) * np.maximum(np.abs(moved) - step * alpha, 0)
    return weights / scale


@pytest.mark.parametrize("alpha", [0.0, 0.01, 0.3])
def test_the_sparse_fit_is_the_minimum(alpha: float) -> None:
    draw = np.random.default_rng(3)
    kept = (draw.random((40, 6)) < 0.5).astype(float)
    values = kept @ np.array([3.0, -2, 0.4, 0, 0, 0.1]) + draw.normal(size=40) / 5
    found = standardised_lasso(kept, values, alpha)
    assert np.allclose(found, slow_lasso(kept, values, alpha), atol=1e-7)
    assert (alpha < 0.3) or (found == 0).sum() >= 3


def test_context_cite_fits_logits_per_token() -> None:
    known = table(4)
    found = context_cite(removal_of(known), samples=16, alpha=0.05)
    cases = list(known)
    for part, length in enumerate(LENGTHS):
        logs = np.array([known[case][part] for case in cases])
        odds = np.log(np.exp(logs) / (1 - np.exp(logs)))
        expected = length * slow_lasso(np.array(cases, float), odds / length, 0.05)
        assert np.allclose(found.scores[part], expected, atol=1e-6)


def test_context_cite_draws_seeded_cases_if_there_are_more_than_it_reads() -> None:
    assert len(set(drawn_cases(5, 32, 0))) == 32
    drawn = drawn_cases(6, 63, 4)
    assert len(drawn) == 63
    assert drawn == drawn_cases(6, 63, 4) != drawn_cases(6, 63, 5)
    assert 0.4 < np.mean(drawn) < 0.6


def test_a_unit_that_is_never_removed_gets_nothing() -> None:
    kept = np.array([[1.0, 0], [1, 1], [1, 0], [1, 1]])
    assert standardised_lasso(kept, np.array([0.0, 1, 0, 1]), 0.0).tolist() == [0.0, 1.0]


def test_the_logit_of_a_sure_answer_is_finite() -> None:
    assert np.isfinite(logit(np.array([0.0, -1e-20, -800.0]))).all()
    assert np.allclose(logit(np.log([0.2, 0.5])), np.log([0.25, 1.0]))


@pytest.mark.parametrize("name", list(ABLATIONS))
@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_units_are_refused(name: str, count: int) -> None:
    text = Divided((5, 6, 7), ((0, None) if count else (None, None)), ((2, 2),))
    with pytest.raises(
        InvalidInput, match=f"{name} compares units .* the prompt has {count}. Give"
    ):
        ABLATIONS[name].function(Removal(model("llama", Task.CAUSAL), text))
