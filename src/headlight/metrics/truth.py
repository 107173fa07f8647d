"""Metrics of known truth: tokens that decide because a rule was planted, or because grammar says so.

The tokens are the marks of an example, as for `rationale`. A person's marks are reasons of people, a planted
rule's marks are those of the model.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from headlight.metrics.case import METRICS, Case, Measure, Measures, passed_over

Marked = tuple[NDArray[np.float64], NDArray[np.bool_]]
"""The scores of ordinary tokens, and which of these are known to decide."""


def marked(case: Case) -> Marked | None:
    """The ordinary tokens of an example; None if all of them or none are marked."""
    if case.marks is None:
        return None
    marks = case.marks[case.ordinary]
    return (case.scores[case.ordinary], marks) if marks.any() and not marks.all() else None


NO_TRUTH = "all tokens or none are marked"


def groups(scores: NDArray[np.float64], marks: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
    """How many tokens share each score, from the highest down, and how many of them are marked."""
    for score in np.unique(scores)[::-1]:
        same = scores == score
        yield int(same.sum()), int(marks[same].sum())


@METRICS.register(
    "pointing", group="truth", needs={"marks"}, better="higher", paper="Zhang et al. (2018)"
)
def pointing(case: Case) -> Measures:
    """The pointing game: whether the token with the highest score is one that is known to decide.

    1 or 0; among equal highest scores, the share of them that is known.
    """
    found = marked(case)
    if found is None:
        return passed_over(NO_TRUTH)
    size, hits = next(groups(*found))
    return {"": Measure(hits / size)}


@METRICS.register(
    "truth_rank", group="truth", needs={"marks"}, better="higher", paper="mean reciprocal rank"
)
def truth_rank(case: Case) -> Measures:
    """How far ahead the first token that is known to decide stands in the order of the scores.

    1 / rank: 1, 1/2, 1/3 and so on. Among equal scores, the mean over all their orders.
    """
    found = marked(case)
    if found is None:
        return passed_over(NO_TRUTH)
    ahead = 0
    for size, hits in groups(*found):
        if hits:
            return {"": Measure(expected_reciprocal(ahead, size, hits))}
        ahead += size
    raise AssertionError("no token is marked")


def expected_reciprocal(ahead: int, size: int, hits: int) -> float:
    """The mean of 1 / rank of the first of `hits` tokens among `size` in random order, behind others."""
    total, is_missed = 0.0, 1.0
    for place in range(size - hits + 1):
        here = hits / (size - place)
        total += is_missed * here / (ahead + place + 1)
        is_missed *= 1 - here
    return total


@METRICS.register(
    "truth_mass", group="truth", needs={"marks"}, better="higher", paper="Arras et al. (2022)"
)
def truth_mass(case: Case) -> Measures:
    """The share of all positive scores that lies on tokens that are known to decide.

    Σ max(score, 0) over these tokens / Σ max(score, 0) over all ordinary tokens; 0 if no score is positive.
    """
    found = marked(case)
    if found is None:
        return passed_over(NO_TRUTH)
    scores, marks = found
    positive = np.maximum(scores, 0)
    total = float(positive.sum())
    return {"": Measure(float(positive[marks].sum()) / total if total else 0.0)}
