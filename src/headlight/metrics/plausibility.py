"""Metrics that compare scores with what people know: right answers, and reasons that they marked."""

import math

import numpy as np
from numpy.typing import NDArray

from headlight.errors import InvalidOption
from headlight.metrics.case import METRICS, Case, Measure, Measures, check_protocol, passed_over


def highest(case: Case, count: int) -> set[int]:
    """The ordinary positions with the highest scores."""
    ordinary = case.ordinary
    return set([p for p in case.order if ordinary[p]][:count])


# ------------------------------------------------------------------------------------ answers


def check_count(k: int, protocol: str) -> None:
    """Refuse a count below 1, or an unknown protocol."""
    check_protocol(protocol, "attcat", "mask_lrp")
    if k < 1:
        raise InvalidOption(f"k={k} is not possible. Use 1 or more.")


def hits(case: Case, k: int, protocol: str) -> list[tuple[int, int]]:
    """For every right answer, how many of the k highest tokens are in it, and its length.

    The papers' protocols rank special tokens too, and use only the first answer.
    """
    if protocol == "corrected":
        best = highest(case, k)
        return [(len(best & set(answer)), len(answer)) for answer in case.answers]
    best = set(case.order[:k])
    first = case.answers[0]
    return [(len(best & set(first)), len(first))]


@METRICS.register(
    "precision_at_k",
    group="agreement",
    needs={"answers"},
    better="higher",
    paper="AttCAT, Mask-LRP",
)
def precision_at_k(case: Case, *, k: int = 20, protocol: str = "corrected") -> Measures:
    """The share of the k highest tokens that are in the right answer.

    Ordinary tokens only, min(k, their number) of them. If there are several right answers, the best one counts.
    'attcat' gives the number of hits instead. 'mask_lrp' gives their share of the answer, which is recall.
    """
    check_count(k, protocol)
    if not case.answers or all(case.subject.row.is_special):
        return passed_over("no answer among the tokens")
    found = hits(case, k, protocol)
    if protocol == "attcat":
        return {"": Measure(float(found[0][0]))}
    if protocol == "mask_lrp":
        return {"": Measure(found[0][0] / found[0][1], weight=float(found[0][1]))}
    size = min(k, int(case.ordinary.sum()))
    return {"": Measure(max(count for count, _ in found) / size)}


@METRICS.register(
    "recall_at_k", group="agreement", needs={"answers"}, better="higher", paper="AttCAT, Mask-LRP"
)
def recall_at_k(case: Case, *, k: int = 20, protocol: str = "corrected") -> Measures:
    """The share of the right answer that is among the k highest tokens.

    If there are several right answers, the best one counts. 'mask_lrp': the hits of all examples divided by the
    tokens of all answers.
    """
    check_count(k, protocol)
    if not case.answers or all(case.subject.row.is_special):
        return passed_over("no answer among the tokens")
    found = hits(case, k, protocol)
    weight = float(found[0][1]) if protocol == "mask_lrp" else 1.0
    return {"": Measure(max(count / length for count, length in found), weight=weight)}


# --------------------------------------------------------------------------------- rationales


@METRICS.register(
    "rationale", group="agreement", needs={"marks"}, better="higher", paper="DeYoung et al. (2020)"
)
def rationale(case: Case, *, protocol: str = "corrected") -> Measures:
    """How well the scores find what a person marked: token F1, IoU, and area under precision and recall.

    f1 and iou use as many of the highest tokens as are marked. auprc is the average precision of the ranking.
    'eraser': iou is the F1 of spans that overlap a marked span by half or more.
    """
    check_protocol(protocol, "eraser")
    ordinary = case.ordinary
    if case.marks is None:
        return passed_over("nobody marked tokens")
    marks = case.marks & ordinary
    if not marks.any() or marks[ordinary].all():
        return passed_over("all tokens or none are marked")
    chosen = np.zeros_like(marks)
    chosen[list(highest(case, int(marks.sum())))] = True
    common, together = int((chosen & marks).sum()), int((chosen | marks).sum())
    iou = common / together if protocol == "corrected" else span_f1(chosen, marks)
    return {
        "f1": Measure(common / int(marks.sum())),
        "iou": Measure(iou),
        "auprc": Measure(average_precision(case.scores[ordinary], marks[ordinary])),
    }


def average_precision(scores: NDArray[np.float64], marks: NDArray[np.bool_]) -> float:
    """Σ (gain in recall) · precision, down the ranking; equal scores count as one step."""
    order = np.argsort(-scores, kind="stable")
    hits_so_far = np.cumsum(marks[order])
    last = np.append(np.diff(scores[order]) != 0, True)
    reached = hits_so_far[last]
    precision = reached / (np.flatnonzero(last) + 1)
    return float((np.diff(reached, prepend=0) * precision).sum() / marks.sum())


def spans(flags: NDArray[np.bool_]) -> list[set[int]]:
    """Runs of true positions."""
    found: list[set[int]] = []
    for position in np.flatnonzero(flags).tolist():
        if found and position - 1 in found[-1]:
            found[-1].add(position)
        else:
            found.append({position})
    return found


def span_f1(chosen: NDArray[np.bool_], marks: NDArray[np.bool_]) -> float:
    """F1 of spans; a span is found if it overlaps another by at least half of their union."""
    first, second = spans(chosen), spans(marks)

    def found(some: list[set[int]], others: list[set[int]]) -> float:
        overlaps = (max(len(s & o) / len(s | o) for o in others) for s in some)
        return sum(overlap >= 0.5 for overlap in overlaps) / len(some)

    precision, recall = found(first, second), found(second, first)
    total = precision + recall
    return 0.0 if math.isclose(total, 0) else 2 * precision * recall / total
