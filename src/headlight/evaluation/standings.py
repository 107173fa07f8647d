"""How methods of a run stand: score against cost, and whether two ways of removing tokens rank them alike."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau

from headlight.errors import InvalidInput
from headlight.evaluation.results import Results
from headlight.metrics.case import metric_of
from headlight.metrics.statistics import Summary
from headlight.probing.probe import CHANGES

COSTS = ("passes", "runtime.passes")
"""Metrics of cost, the counted one before the clocked one."""
RESAMPLES = 500


@dataclass(frozen=True)
class Standing:
    """A method's mean score and cost; on the front if no other method is better for as little.

    passes: the work for one example as a multiple of a plain forward pass.
    """

    method: str
    passes: float
    score: Summary
    is_on_front: bool


def cost_of(results: Results) -> str | None:
    """The metric by which a run knows what its methods cost; None if it has none."""
    return next((name for name in COSTS if name in results.metrics), None)


def standings(results: Results, metric: str) -> list[Standing]:
    """Every method's score and cost, the cheapest first; the front is drawn over methods other than random."""
    cost, better = cost_of(results), metric_of(metric).better
    if cost is None:
        raise InvalidInput(
            "the run does not know what its methods cost. Add the metric 'passes' to the run."
        )
    if not better:
        raise InvalidInput(f"'{metric}' has no direction, so no method is better than another.")
    sign = 1 if better == "higher" else -1
    found = [
        (results.summary(cost, method).mean, results.summary(metric, method), method)
        for method in results.methods
    ]
    known = [each for each in found if not math.isnan(each[0]) and not math.isnan(each[1].mean)]
    if not known:
        raise InvalidInput(f"'{metric}' was not measured in this run.")
    known.sort(key=lambda each: (each[0], -sign * each[1].mean))
    standing, best = [], -math.inf
    for passes, score, method in known:
        is_ahead = method != "random" and sign * score.mean > best
        best = sign * score.mean if is_ahead else best
        standing.append(Standing(method, passes, score, is_ahead))
    return standing


# ------------------------------------------------------------------------------------ fillers


@dataclass(frozen=True)
class Agreement:
    """Kendall's τ between the orders of methods by a metric and by the same with another way of removing.

    low, high: the middle 95 % over resampled examples. examples: those that all methods have in both.
    """

    first: str
    second: str
    tau: float
    low: float
    high: float
    methods: int
    examples: int


def agreements(results: Results) -> Iterator[Agreement]:
    """Whether the methods have the same order when tokens are removed in another way, metric by metric."""
    for first, second in combinations(results.metrics, 2):
        if base_of(first) == base_of(second):
            found = agreement(results, first, second)
            if found is not None:
                yield found


def base_of(metric: str) -> str:
    """A metric's name in a run without a way of removing tokens: aopc of aopc@mask, aopc@attcat of itself."""
    name, _, rest = metric.partition("@")
    word, dot, part = rest.partition(".")
    return f"{name}{dot}{part}" if word in CHANGES else metric


def agreement(results: Results, first: str, second: str) -> Agreement | None:
    """The agreement of two metrics on the order of methods; None for fewer than three methods."""
    columns = [
        [results.column(metric, method) for method in results.methods] for metric in (first, second)
    ]
    both = [(a, b) for a, b in zip(*columns, strict=True) if a is not None and b is not None]
    if len(both) < 3:
        return None
    one, other = (
        np.array([full(column.example, column.value, results.settings.count) for column in side])
        for side in zip(*both, strict=True)
    )
    known = ~np.isnan(one).any(0) & ~np.isnan(other).any(0)
    one, other = one[:, known], other[:, known]
    count = one.shape[1]
    if not count:
        return None
    draw = np.random.default_rng(0)
    drawn = [
        tau(one[:, chosen], other[:, chosen])
        for chosen in draw.integers(0, count, (RESAMPLES, count))
    ]
    low, high = np.nanquantile(drawn, (0.025, 0.975)) if count > 1 else (math.nan, math.nan)
    return Agreement(first, second, tau(one, other), float(low), float(high), len(both), count)


def full(
    examples: NDArray[np.int64], values: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    """Values in the places of their examples; NaN elsewhere."""
    found = np.full(count, np.nan)
    found[examples] = values
    return found


def tau(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Kendall's τ_b between the means of methods [method example]."""
    return float(kendalltau(one.mean(1), other.mean(1)).statistic)
