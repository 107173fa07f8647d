"""Metrics of values: whether scores that are added up say what the model does, not only in which order."""

from collections.abc import Callable
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from headlight.metrics.case import METRICS, ONLY_AN_ORDER, Case, Measure, Measuring, passed_over
from headlight.metrics.curves import NOTHING_TO_REMOVE, SMALLEST
from headlight.metrics.sources import NO_SOURCES, source_count, source_scores
from headlight.metrics.statistics import is_constant, linear_correlation, rank_correlation
from headlight.probing.probe import check_change
from headlight.registry.options import Count, Seed

Array = NDArray[np.float64]
SAMPLES = 64


def units_of(case: Case) -> tuple[list[list[int]], Array]:
    """What is removed as a whole and its scores: the sources of a prompt, else the tokens of a text."""
    if not case.sources:
        tokens = case.subject.eligible
        return [[p] for p in tokens], case.scores[tokens]
    places: list[list[int]] = [[] for _ in range(source_count(case))]
    for position, number in enumerate(case.sources):
        if number is not None:
            places[number].append(position)
    return places, source_scores(case)


def halves(count: int, samples: int, seed: int) -> NDArray[np.bool_]:
    """Which units are kept [choice unit], half of them each time: all such choices, or that many drawn ones.

    With a varying number of units, scores that are all equal would do well, because more text is more probable.
    """
    half = count // 2
    if comb(count, half) <= samples:
        chosen = list(combinations(range(count), half))
    else:
        ranks = np.random.default_rng(seed).random((samples, count)).argsort(1)
        chosen = [tuple(row) for row in ranks[:, :half]]
    kept = np.zeros((len(chosen), count), bool)
    for row, units in enumerate(chosen):
        kept[row, list(units)] = True
    return kept


def correlated(
    case: Case, change: str, samples: int, seed: int, correlation: Callable[[Array, Array], float]
) -> Measuring:
    """The correlation of the summed scores of kept units with the log-probability of the target."""
    check_change(change)
    units, scores = units_of(case)
    if len(units) < 2:
        return passed_over(NO_SOURCES if case.sources else "fewer than two tokens may be removed")
    kept = halves(len(units), samples, seed)
    gone = [[p for unit in np.flatnonzero(~row) for p in units[unit]] for row in kept]
    answers = yield [case.subject.without(each, change) for each in gone]
    logs = np.array([answer.log_probability for answer in answers])
    if is_constant(logs):
        return passed_over("the probability does not change, whatever is removed")
    # Rounded, because equal sums of different scores differ in their last digits.
    sums = np.round(kept @ (scores / (float(np.abs(scores).max()) or 1.0)), 9).astype(np.float64)
    if is_constant(sums):
        return {"": Measure(0.0, note="all scores are equal")}
    return {"": Measure(correlation(sums, logs))}


@METRICS.register(
    "lds",
    group="values",
    needs={"removal", "probability"},
    better="higher",
    paper="Park et al. (2023), Cohen-Wang et al. (2024)",
    takes="64, once for all methods",
)
def lds(
    case: Case, *, samples: Count = SAMPLES, seed: Seed = 0, change: str = "delete"
) -> Measuring:
    """The linear datamodeling score: how well added-up scores rank what is left of a text or of its sources.

    Spearman's ρ between Σ scores of the units that are kept and the log-probability of the target. The units
    are the sources of a prompt, or else the tokens of a text. Half of them (rounded down) are kept: in all
    possible ways if there are no more than `samples`, else in drawn ones, the same for all methods. Scores that
    are all equal count as 0.
    """
    return (yield from correlated(case, change, samples, seed, rank_correlation))


@METRICS.register(
    "sensitivity_n",
    group="values",
    needs={"removal", "probability"},
    better="higher",
    paper="Ancona et al. (2018)",
    takes="none beside those of `lds`",
)
def sensitivity_n(
    case: Case, *, samples: Count = SAMPLES, seed: Seed = 0, change: str = "delete"
) -> Measuring:
    """How far added-up scores are in proportion to the log-probability of what is left.

    As `lds`, with Pearson's r in place of Spearman's ρ: sensitivity-n for n = half of the units.
    """
    return (yield from correlated(case, change, samples, seed, linear_correlation))


@METRICS.register(
    "completeness",
    group="sums",
    better="lower",
    aliases=("completeness_error",),
    paper="Sundararajan et al. (2017)",
    takes="2, once for all methods",
)
def completeness(case: Case) -> Measuring:
    """How far the sum of signed scores is from the difference it should equal, from 0 to 1.

    |Σ − Δ| / (|Σ| + |Δ|). Σ is the sum of the scores; Δ is the explained logit minus that of the input with
    every ordinary token masked ([PAD] if there is no mask token). Only methods designed to add up, such as
    integrated_gradients, come near 0. It says nothing of single scores: Δ / n for every token adds up too.
    """
    subject = case.subject
    if not case.signed:
        return passed_over("the scores have no sign, so they do not add up")
    if case.is_order:
        return passed_over(ONLY_AN_ORDER)
    if not subject.eligible:
        return passed_over(NOTHING_TO_REMOVE)
    change = "mask" if subject.mask_id is not None else "pad_attended"
    answers = yield [subject.whole, subject.without(subject.eligible, change)]
    gained, total = answers[0].logit - answers[1].logit, float(case.scores.sum())
    return {"": Measure(abs(total - gained) / max(abs(total) + abs(gained), SMALLEST))}
