"""What many measures come to: mean, standard error, bootstrap interval; and methods compared in pairs."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
FLIPS = 10_000


@dataclass(frozen=True)
class Summary:
    """The (weighted) mean over examples with its standard error and 95 % bootstrap interval.

    passed_over: examples to which the metric did not apply; noted: those where something had to be done.
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

    The interval is the middle 95 % of the means of 2,000 resamples.
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
    drawn = np.random.default_rng(seed).integers(0, len(x), (RESAMPLES, len(x)))
    means = (x[drawn] * w[drawn]).sum(1) / w[drawn].sum(1)
    low, high = np.quantile(means, (0.025, 0.975))
    return Summary(mean, error, float(low), float(high), len(x), missing, noted)


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same examples: mean difference, interval, and how often chance does as much."""

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
    """First less second, example by example; those that either side passed over are left out.

    p: the share of 10,000 random changes of sign whose mean is as far from 0, two-sided (Fisher's test of
    paired differences), with the observed one counted among them.
    """
    gaps = np.asarray(first, np.float64) - np.asarray(second, np.float64)
    gaps = gaps[~np.isnan(gaps)]
    if len(gaps) < 2:
        return Comparison(math.nan, math.nan, math.nan, math.nan, len(gaps))
    own = summarise(gaps, seed=seed)
    generator = np.random.default_rng(seed)
    as_far = 0
    for _ in range(10):
        signs = generator.integers(0, 2, (FLIPS // 10, len(gaps))) * 2 - 1
        means = (signs * gaps).mean(1)
        as_far += int((np.abs(means) >= abs(own.mean) * (1 - 1e-9)).sum())
    return Comparison(own.mean, own.low, own.high, (as_far + 1) / (FLIPS + 1), len(gaps))


def chunk_weights(
    values: Sequence[float] | NDArray[np.float64], processes: int = 10
) -> NDArray[np.float64]:
    """Weights by which a mean is the unweighted mean of the means of chunks.

    Mask-LRP's released code averages so. Chunks have ⌊n / processes⌋ examples in order, a remainder is one
    more; NaN counts as nothing.
    """
    known = ~np.isnan(np.asarray(values, np.float64))
    size = max(1, len(known) // processes)
    counts = [max(1, int(known[n : n + size].sum())) for n in range(0, len(known), size)]
    return 1.0 / np.repeat(np.array(counts, np.float64), size)[: len(known)]


def mean_of_chunks(values: Sequence[float] | NDArray[np.float64], processes: int = 10) -> float:
    """The unweighted mean of the means of chunks."""
    return summarise(values, chunk_weights(values, processes)).mean
