"""Metrics that compare scores with others of the same tokens: for another class, model or weights."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import kendalltau, rankdata

from headlight.errors import InvalidOption
from headlight.metrics.case import (
    METRICS,
    Case,
    Measure,
    Measures,
    check_protocol,
    in_order,
    passed_over,
)
from headlight.metrics.statistics import is_constant, rank_correlation

Array = NDArray[np.float64]


SINGLE = "a single score"
UNORDERED = "all scores are equal"


def mean_of_rivals(values: dict[str, float]) -> Measures:
    """The mean over the other models that make the same decision."""
    known = [value for value in values.values() if not math.isnan(value)]
    if not known:
        return passed_over(SINGLE if values else "the models decide differently")
    return {"": Measure(float(np.mean(known)))}


@METRICS.register(
    "kendall_confidence", group="stability", roles=("runner_up",), better="lower", paper="AttCAT"
)
def kendall_confidence(case: Case, *, protocol: str = "corrected") -> Measures:
    """Kendall's τ between the scores for the explained class and those for the second best.

    τ_b of the scores of ordinary tokens. Near 1, the method gives the same answer whatever class it is asked
    about. Scores that are all equal count as 1, since they tell no class from another. 'attcat' correlates the
    two rankings as lists of token positions, special tokens included, as the released code does.
    """
    check_protocol(protocol, "attcat")
    others = case.role("runner_up")
    if not others:
        return passed_over("no second class")
    (other,) = others.values()
    first: NDArray[Any]
    second: NDArray[Any]
    if protocol == "attcat":
        first, second = (np.argsort(-scores, kind="stable") for scores in (case.scores, other))
    else:
        keep = case.ordinary
        first, second = case.scores[keep], other[keep]
    if len(first) < 2:
        return passed_over(SINGLE)
    if is_constant(first):
        return {"": Measure(1.0, note=UNORDERED)}
    # A second class that orders nothing says something else than the first.
    return {"": Measure(0.0 if is_constant(second) else float(kendalltau(first, second).statistic))}


@METRICS.register(
    "jaccard", group="stability", roles=("rival",), better="higher", paper="ALTI, Section 5.2"
)
def jaccard(case: Case, *, share: float = 0.25, protocol: str = "corrected") -> Measures:
    """How far another model agrees on the highest quarter of the tokens, |A ∩ B| / |A ∪ B|.

    ⌈share · n⌉ ordinary tokens. Only examples on which both models make the same decision; mean over the other
    models. 'alti' counts special tokens too.
    """
    check_protocol(protocol, "alti")
    if not 0 < share <= 1:
        raise InvalidOption(f"share={share} is not possible. Use more than 0 and at most 1.")
    keep = case.ordinary if protocol == "corrected" else np.ones(len(case.scores), bool)
    size = math.ceil(round(share * int(keep.sum()), 9))
    if not size:
        return passed_over("no ordinary token")

    def best(scores: Array, lot: int) -> set[int]:
        order = in_order(scores, case.subject.row.ids, lot)
        return set([p for p in order if keep[p]][:size])

    # Each model draws its own lots for equal scores, or two without any order would agree wholly.
    own = best(case.scores, 0)
    values = {}
    for name, scores in case.role("rival").items():
        other = best(scores, 1)
        values[name] = len(own & other) / len(own | other)
    return mean_of_rivals(values)


@METRICS.register(
    "spearman", group="stability", roles=("rival",), better="higher", paper="ALTI, Section 5.2"
)
def spearman(case: Case, *, protocol: str = "corrected") -> Measures:
    """Spearman's ρ between the scores in this model and in another.

    Ordinary tokens; equal scores get their mean rank, and scores that are all equal agree with none: 0. Only
    examples on which both models make the same decision. 'alti': 1 − 6 Σ d² / (n (n² − 1)) of dense ranks,
    special tokens included.
    """
    check_protocol(protocol, "alti")
    keep = case.ordinary
    values = {}
    for name, scores in case.role("rival").items():
        pair = (case.scores, scores) if protocol == "alti" else (case.scores[keep], scores[keep])
        if len(pair[0]) < 2:
            values[name] = math.nan
        elif is_constant(pair[0]) or is_constant(pair[1]):
            values[name] = 0.0
        else:
            values[name] = (
                dense_correlation(*pair) if protocol == "alti" else rank_correlation(*pair)
            )
    return mean_of_rivals(values)


def dense_correlation(first: Array, second: Array) -> float:
    """1 − 6 Σ d² / (n (n² − 1)) of dense ranks, as ALTI's code computes it."""
    ranks = [rankdata(-each, method="dense") for each in (first, second)]
    n = len(first)
    return 1 - 6 * float(((ranks[0] - ranks[1]) ** 2).sum()) / (n * (n**2 - 1))


@METRICS.register(
    "randomisation",
    group="stability",
    roles=("randomised",),
    axes=("parts with random weights: the head, then blocks", "|Spearman's ρ|"),
    better="lower",
    paper="Adebayo et al. (2018)",
)
def randomisation(case: Case) -> Measures:
    """How much of a ranking survives random weights: |Spearman's ρ| with scores of randomised networks.

    Weights are drawn again from the head down, one more block at a time; the mean over these networks. A
    method whose scores do not change explains the input, not the model. Equal scores of a randomised network
    count as 0, because nothing survived; a method whose own scores are all equal has nothing to lose: 1.
    """
    by_depth = case.role("randomised")
    if not by_depth:
        return passed_over("not among the examples that are randomised")
    keep = case.ordinary
    is_unordered = is_constant(case.scores[keep])
    curve = []
    for depth in sorted(by_depth, key=int):
        value = rank_correlation(case.scores[keep], by_depth[depth][keep])
        curve.append(float(is_unordered) if math.isnan(value) else abs(value))
    levels = tuple(float(depth) for depth in sorted(by_depth, key=int))
    return {"": Measure(float(np.mean(curve)), levels=levels, curve=tuple(curve))}


@METRICS.register(
    "conservation", group="stability", roles=("ledger",), better="lower", paper="Bach et al. (2015)"
)
def conservation(case: Case) -> Measures:
    """How far the sum of relevance is from 1 at the worst block boundary, for methods that send relevance.

    max |Σ R − 1| by the method's preset, without a head mask.
    """
    ledger = case.role("ledger")
    if not ledger:
        return passed_over("the method sends no relevance")
    (sums,) = ledger.values()
    return {"": Measure(float(np.abs(sums - 1).max()), curve=tuple(sums.tolist()))}
