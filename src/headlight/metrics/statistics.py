"""Summaries of measures (mean, standard error, bootstrap interval), and paired comparisons of methods."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

RESAMPLES = 2_000
WEIGHTINGS = RESAMPLES // 20
"""How many times all examples get random weights, for values that are not means."""
FLIPS = 10_000
LARGE = 10_000
"""Beyond this many examples, this many random groups of them are resampled: 2,000 × n draws take too long."""
AT_ONCE = 1_000_000
"""How many draws are held in memory at a time."""


@dataclass(frozen=True)
class Summary:
    """The (weighted) mean over examples with its standard error and 95 % bootstrap interval.

    passed_over: examples to which the metric did not apply. noted: examples whose measure has a note.
    """

    mean: float
    error: float
    low: float
    high: float
    count: int
    passed_over: int = 0
    noted: int = 0


def summarise(
    values: Sequence[float] | NDArray[np.float64],
    weights: Sequence[float] | NDArray[np.float64] | None = None,
    *,
    noted: int = 0,
    seed: int = 0,
) -> Summary:
    """The summary of values; NaN is passed over and counted.

    The interval is the middle 95 % of the means of 2,000 resamples, of examples or of 10,000 groups of them.
    """
    every = np.asarray(values, np.float64)
    known = ~np.isnan(every)
    x = every[known]
    w = np.ones_like(x) if weights is None else np.asarray(weights, np.float64)[known]
    missing = int((~known).sum())
    if not len(x):
        return Summary(math.nan, math.nan, math.nan, math.nan, 0, missing, noted)
    mean = float((x * w).sum() / w.sum())
    if len(x) == 1:
        return Summary(mean, math.nan, math.nan, math.nan, 1, missing, noted)
    error = float(np.sqrt(((w * (x - mean)) ** 2).sum() * len(x) / (len(x) - 1)) / w.sum())
    low, high = np.quantile(resampled_means(x * w, w, seed), (0.025, 0.975))
    return Summary(mean, error, float(low), float(high), len(x), missing, noted)


def resampled_means(
    products: NDArray[np.float64], weights: NDArray[np.float64], seed: int
) -> NDArray[np.float64]:
    """Means of resamples, a few resamples at a time. products: of values and weights."""
    products, weights = grouped(products, seed), grouped(weights, seed)
    generator, count = np.random.default_rng(seed), len(products)
    means = []
    for size in pieces(RESAMPLES, count):
        drawn = generator.integers(0, count, (size, count))
        means.append(products[drawn].sum(1) / weights[drawn].sum(1))
    return np.concatenate(means)


def grouped(values: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Sums over random groups; few values are returned as they are. Equal lengths get equal groups."""
    if len(values) <= LARGE:
        return values
    groups = np.random.default_rng(seed).permutation(len(values)) % LARGE
    return np.bincount(groups, values, LARGE).astype(np.float64)


def pieces(rows: int, width: int) -> list[int]:
    """How many rows of that width to draw at a time, until all are drawn."""
    most = max(1, AT_ONCE // width)
    return [min(most, rows - start) for start in range(0, rows, most)]


def summarise_weighted(value: Callable[[Sequence[float] | None], float], count: int) -> Summary:
    """The summary of one value of all examples, given as a function of their weights.

    Resampling would not work: words that occur only in left-out examples would be missing. Random weights also
    shift the mean, so the interval is the value ± 1.96 standard deviations.
    """
    own = value(None)
    if math.isnan(own):
        return summarise([math.nan])
    generator = np.random.default_rng(0)
    drawn = [value(generator.exponential(size=count).tolist()) for _ in range(WEIGHTINGS)]
    error = float(np.nanstd(drawn))
    return Summary(own, error, own - 1.96 * error, own + 1.96 * error, count)


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same examples: mean difference, its interval, and a p-value."""

    difference: float
    low: float
    high: float
    p_value: float
    count: int


def compare(
    first: Sequence[float] | NDArray[np.float64],
    second: Sequence[float] | NDArray[np.float64],
    *,
    seed: int = 0,
) -> Comparison:
    """First minus second, example by example; examples that either side passed over are left out.

    p: the share of 10,000 random changes of sign whose mean is at least as far from 0 (Fisher's two-sided test
    of paired differences), counting the observed one. With many examples, groups of them change sign together.
    """
    gaps = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    gaps = gaps[~np.isnan(gaps)]
    if len(gaps) < 2:
        return Comparison(math.nan, math.nan, math.nan, math.nan, len(gaps))
    own = summarise(gaps, seed=seed)
    generator = np.random.default_rng(seed)
    sums, as_far = grouped(gaps, seed), 0
    for size in pieces(FLIPS, len(sums)):
        signs = generator.integers(0, 2, (size, len(sums))) * 2 - 1
        means = (signs * sums).sum(1) / len(gaps)
        as_far += int((np.abs(means) >= abs(own.mean) * (1 - 1e-9)).sum())
    return Comparison(own.mean, own.low, own.high, (as_far + 1) / (FLIPS + 1), len(gaps))


def chunk_weights(
    values: Sequence[float] | NDArray[np.float64], processes: int = 10
) -> NDArray[np.float64]:
    """Weights that turn a weighted mean into the unweighted mean of the means of chunks.

    Mask-LRP's released code averages like this. Chunks are ⌊n / processes⌋ consecutive examples; a remainder
    is one more chunk. NaN is not counted.
    """
    known = ~np.isnan(np.asarray(values, np.float64))
    size = max(1, len(known) // processes)
    counts = [max(1, int(known[n : n + size].sum())) for n in range(0, len(known), size)]
    return 1.0 / np.repeat(np.array(counts, np.float64), size)[: len(known)]


def mean_of_chunks(values: Sequence[float] | NDArray[np.float64], processes: int = 10) -> float:
    """The unweighted mean of the means of chunks."""
    return summarise(values, chunk_weights(values, processes)).mean


def is_constant(values: NDArray[Any]) -> bool:
    """Whether values have no order: fewer than two, or all the same."""
    return len(values) < 2 or bool(np.ptp(values) == 0)


def linear_correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Pearson's r; NaN if either side is constant."""
    if is_constant(first) or is_constant(second):
        return math.nan
    return float(np.corrcoef(first, second)[0, 1])


def rank_correlation(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Spearman's ρ with mean ranks for equal values; NaN if either side is constant."""
    if is_constant(first) or is_constant(second):
        return math.nan
    return float(spearmanr(first, second).statistic)
