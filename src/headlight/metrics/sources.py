"""Metrics of answers from sources: whole sources are removed from the prompt, and the answer is read again."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headlight.metrics.case import (
    METRICS,
    ONLY_AN_ORDER,
    Case,
    Measure,
    Measures,
    Measuring,
    in_order,
    passed_over,
)
from headlight.probing.probe import Probe

COUNTS = (1, 3)
"""How many of the highest sources are removed at once."""
NO_SOURCES = "fewer than two sources"


def source_count(case: Case) -> int:
    """How many sources the prompt has."""
    return 1 + max((number for number in case.sources if number is not None), default=-1)


def source_scores(case: Case) -> NDArray[np.float64]:
    """The scores of sources: those of their tokens, added up."""
    total = np.zeros(source_count(case))
    for score, number in zip(case.scores, case.sources, strict=True):
        if number is not None:
            total[number] += score
    return total


def without(case: Case, removed: Sequence[bool]) -> Probe:
    """The prompt and its answer without the tokens of some sources."""
    gone = [p for p, number in enumerate(case.sources) if number is not None and removed[number]]
    return case.subject.without(gone, "delete") if gone else case.subject.whole


@METRICS.register(
    "top_drop",
    group="sources",
    needs={"sources", "removal", "probability"},
    better="higher",
    paper="Cohen-Wang et al. (2024)",
    takes="3",
)
def top_drop(case: Case) -> Measuring:
    """How much the answer's log-probability falls when the 1 or 3 highest sources are removed.

    log p(answer | all sources) − log p(answer | all but the k highest).
    A prompt with k sources or fewer is passed over.
    """
    count = source_count(case)
    if count < 2:
        return passed_over(NO_SOURCES)
    order = in_order(source_scores(case), case.subject.row.ids)
    counts = [k for k in COUNTS if k < count]
    cases = [[number in order[:k] for number in range(count)] for k in counts]
    whole, *left = yield [case.subject.whole, *(without(case, removed) for removed in cases)]
    return {
        str(k): Measure(whole.log_probability - answer.log_probability)
        for k, answer in zip(counts, left, strict=True)
    }


@METRICS.register(
    "source_recall", group="sources", needs={"sources"}, better="higher", paper="planted facts"
)
def source_recall(case: Case) -> Measures:
    """Whether the source that holds the answer has the highest score: 1 or 0, shared among equal scores.

    Of a choice between two answers, whether the word that decides has the highest score of all words.
    """
    if source_count(case) < 2:
        return passed_over(NO_SOURCES)
    if case.right_source is None:
        return passed_over("it is not known that exactly one source holds the answer")
    scores = source_scores(case)
    highest = np.flatnonzero(scores == scores.max())
    return {"": Measure(float(case.right_source in highest) / len(highest))}


@METRICS.register(
    "answer_completeness", group="sources", needs={"sources"}, better="lower", paper="completeness"
)
def answer_completeness(case: Case) -> Measures:
    """How far all scores together are from the number that they explain, as a share of it: |Σ s − f| / |f|."""
    if not case.signed:
        return passed_over("scores without a sign do not add up to what they explain")
    if case.is_order:
        return passed_over(ONLY_AN_ORDER)
    if not case.explained or np.isnan(case.explained):
        return passed_over("the explained number is 0")
    total = float(case.scores.sum())
    return {"": Measure(abs(total - case.explained) / abs(case.explained))}
