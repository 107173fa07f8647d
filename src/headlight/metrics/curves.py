"""Metrics that remove tokens in the order of their scores and ask the model.

All of them keep special tokens and tokens at which the decision is read. Equal scores are ranked by lot.
Probabilities are those of the explained target.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from headlight.errors import InvalidOption
from headlight.metrics.case import (
    METRICS,
    Case,
    Measure,
    Measuring,
    check_protocol,
    passed_over,
)
from headlight.probing.probe import Outcome, Probe, check_change

TENTHS = tuple(n / 10 for n in range(1, 11))
NINTHS = tuple(n / 9 for n in range(1, 10))
BINS = (0.01, 0.05, 0.10, 0.20, 0.50)
SMALLEST = 1e-12
"""Smaller probabilities are raised to this before the logarithm; a note says so."""
REMOVED, FALL = "share of tokens removed", "fall of the probability"
"""Labels of axes that several curves share."""
DRAWS = 20
"""Random orders that a game averages for the method 'random'."""
NOTHING_TO_REMOVE = "no token may be removed"


@dataclass(frozen=True)
class Walk:
    """How tokens are removed, level by level.

    levels: shares of the length. rounding: of share × length. counts_special: special tokens count in the
    length and have ranks, but are never removed. spares_last: the token with the lowest rank is never removed.
    shortest: inputs with fewer tokens (special ones included) are passed over.
    """

    change: str = "delete"
    levels: tuple[float, ...] = TENTHS
    rounding: Literal["half_up", "half_even", "up"] = "half_up"
    counts_special: bool = False
    spares_last: bool = False
    shortest: int = 0

    def counts(self, length: int) -> list[int]:
        """How many ranks each level reaches."""
        # 0.07 × 100 is 7.000000000000001 in floating point, which "up" must not turn into 8.
        exact = [round(level * length, 9) for level in self.levels]
        if self.rounding == "up":
            return [math.ceil(n) for n in exact]
        if self.rounding == "half_even":
            return sorted({round(n) for n in exact} - {0})
        return [math.floor(n + 0.5) for n in exact]

    def removed(self, case: Case) -> list[list[int]]:
        """The positions removed at every level."""
        eligible = case.subject.eligible
        if not self.counts_special:
            order = case.ranked()
            return [order[:count] for count in self.counts(len(order))]
        order = case.order
        reached = order[:-1] if self.spares_last else order
        return [
            [p for p in reached[:count] if p in eligible] for count in self.counts(len(case.scores))
        ]


AS_RELEASED = Walk("pad_attended", NINTHS, "half_even", True, True, 20)
"""Mask-LRP's released evaluation."""

AOPC_WALKS = {
    "corrected": Walk(),
    "mask_lrp": AS_RELEASED,
    "attcat": replace(AS_RELEASED, change="delete", shortest=10),
}
LOG_ODDS_WALKS = AOPC_WALKS | {"attcat": replace(AS_RELEASED, shortest=10)}


def chosen(
    walks: dict[str, Walk], protocol: str, change: str | None, levels: Sequence[float] | None
) -> Walk:
    """The walk of a protocol, with the caller's change and levels if given."""
    check_protocol(protocol, *walks)
    walk = walks[protocol]
    change = change or walk.change
    check_change(change)
    return replace(walk, change=change, levels=walk.levels if levels is None else shares(levels))


def shares(levels: Sequence[float], fewest: int = 1) -> tuple[float, ...]:
    """Levels in ascending order; refused if they are not shares of a text."""
    found = tuple(sorted(levels))
    if len(found) < fewest or not all(0 <= level <= 1 for level in found):
        raise InvalidOption(
            f"levels={tuple(levels)} are not shares of a text. Use {fewest} or more numbers from 0 to 1."
        )
    return found


def unfit(case: Case, walk: Walk) -> str:
    """Why an example is passed over; '' if it is not."""
    if len(case.subject.row) < walk.shortest:
        return f"shorter than {walk.shortest} tokens"
    return "" if case.subject.eligible else NOTHING_TO_REMOVE


def probes_of(case: Case, walk: Walk) -> tuple[list[float], list[Probe]]:
    """The levels reached, and the whole row followed by the row at each of them."""
    removed = walk.removed(case)
    if len(removed) == len(walk.levels):
        levels = list(walk.levels)
    else:
        levels = [count / len(case.scores) for count in walk.counts(len(case.scores))]
    shorter = [case.subject.without(gone, walk.change) for gone in removed]
    return levels, [case.subject.whole, *shorter]


def probability(answer: Outcome) -> float:
    """The probability of the target."""
    return math.exp(answer.log_probability)


# ------------------------------------------------------------------------------ AOPC, log-odds


@METRICS.register(
    "aopc",
    group="faithfulness",
    needs={"probability"},
    axes=(REMOVED, FALL),
    chunked=("mask_lrp",),
    better="higher",
    paper="Samek et al. (2017); Mask-LRP, AttCAT",
    takes="11",
)
def aopc(
    case: Case,
    *,
    protocol: str = "corrected",
    change: str | None = None,
    levels: Sequence[float] | None = None,
) -> Measuring:
    """How far the probability falls when the tokens with the highest scores are removed.

    Mean over levels of p(x) − p(x without the first k tokens). The levels are 10 %, 20 % … 100 % of the tokens
    that may be removed, rounded half up; these tokens are deleted. 'mask_lrp': nine levels of the length
    including special tokens, rounded half to even; the token of the lowest rank stays; removed tokens become
    [PAD], which is attended to; only texts of 20 tokens or more. 'attcat': the same, but tokens are deleted,
    the magnitude of each difference counts, and 10 tokens are enough.
    """
    walk = chosen(AOPC_WALKS, protocol, change, levels)
    if reason := unfit(case, walk):
        return passed_over(reason)
    reached, probes = probes_of(case, walk)
    whole, *shorter = map(probability, (yield probes))
    falls = [whole - p for p in shorter]
    if protocol == "attcat":
        falls = [abs(fall) for fall in falls]
    return {"": Measure(float(np.mean(falls)), levels=tuple(reached), curve=tuple(falls))}


@METRICS.register(
    "log_odds",
    group="faithfulness",
    needs={"probability"},
    axes=(REMOVED, "log-odds"),
    chunked=("mask_lrp",),
    better="lower",
    aliases=("lodds",),
    paper="Shrikumar et al. (2017); Mask-LRP, AttCAT",
    takes="11, those of `aopc`",
)
def log_odds(
    case: Case,
    *,
    protocol: str = "corrected",
    change: str | None = None,
    levels: Sequence[float] | None = None,
) -> Measuring:
    """How far the logarithm of the probability falls when the tokens with the highest scores are removed.

    Mean over levels of ln p(x without the first k tokens) − ln p(x), with the levels of `aopc`. A probability
    below 1e-12 counts as 1e-12. 'mask_lrp' and 'attcat': as in `aopc`, but both put [PAD] and attend to it.
    """
    walk = chosen(LOG_ODDS_WALKS, protocol, change, levels)
    if reason := unfit(case, walk):
        return passed_over(reason)
    reached, probes = probes_of(case, walk)
    logs = [answer.log_probability for answer in (yield probes)]
    floor = math.log(SMALLEST)
    clipped = sum(log < floor for log in logs)
    whole, *shorter = (max(log, floor) for log in logs)
    ratios = [log - whole for log in shorter]
    note = f"{clipped} probabilities below {SMALLEST}" if clipped else ""
    return {
        "": Measure(float(np.mean(ratios)), levels=tuple(reached), curve=tuple(ratios), note=note)
    }


@METRICS.register(
    "probability_drop",
    group="faithfulness",
    needs={"probability"},
    axes=("tokens removed", FALL),
    better="higher",
    paper="ALTI, Figure 6",
    takes="31",
)
def probability_drop(case: Case, *, most: int = 30, change: str = "delete") -> Measuring:
    """How far the probability falls as up to 30 tokens are removed one by one, highest score first.

    Mean over k = 1 … 30 of p(x) − p(x without the first k tokens). A text with fewer tokens keeps its last
    value once all of them are removed.
    """
    check_change(change)
    if most < 1:
        raise InvalidOption(f"most={most} is not possible. Use 1 or more.")
    order = case.ranked()
    if not order:
        return passed_over(NOTHING_TO_REMOVE)
    shorter = [case.subject.without(order[:count], change) for count in range(1, most + 1)]
    whole, *left = map(probability, (yield [case.subject.whole, *shorter]))
    falls = tuple(whole - p for p in left)
    levels = tuple(float(count) for count in range(1, most + 1))
    return {"": Measure(float(np.mean(falls)), levels=levels, curve=falls)}


# ------------------------------------------------------------ comprehensiveness and sufficiency

ERASER_WALK = Walk(levels=BINS, rounding="up")
BIN_WALKS = {"corrected": ERASER_WALK, "eraser": ERASER_WALK, "alti": ERASER_WALK}


def mean_of(falls: list[float], protocol: str) -> float:
    """The mean over bins; the papers divide by one more, because they count the empty bin."""
    return sum(falls) / (len(falls) + (protocol != "corrected"))


@METRICS.register(
    "comprehensiveness",
    group="faithfulness",
    needs={"probability"},
    axes=(REMOVED, FALL),
    better="higher",
    paper="DeYoung et al. (2020); ALTI",
    takes="6",
)
def comprehensiveness(
    case: Case,
    *,
    protocol: str = "corrected",
    change: str | None = None,
    levels: Sequence[float] | None = None,
) -> Measuring:
    """How far the probability falls when the highest 1, 5, 10, 20 and 50 % of the tokens are removed.

    Mean over the bins of p(x) − p(x without the first ⌈share · n⌉ tokens). 'eraser': the sum is divided by the
    number of bins plus one. 'alti': the same, with the lowest probability so far in place of each.
    """
    walk = chosen(BIN_WALKS, protocol, change, levels)
    if reason := unfit(case, walk):
        return passed_over(reason)
    reached, probes = probes_of(case, walk)
    whole, *left = map(probability, (yield probes))
    if protocol == "alti":
        left = list(np.minimum.accumulate([whole, *left])[1:])
    falls = [whole - float(p) for p in left]
    return {"": Measure(mean_of(falls, protocol), levels=tuple(reached), curve=tuple(falls))}


@METRICS.register(
    "sufficiency",
    group="faithfulness",
    needs={"probability"},
    axes=("share of tokens left", FALL),
    better="lower",
    paper="DeYoung et al. (2020); ALTI",
    takes="7",
)
def sufficiency(
    case: Case,
    *,
    protocol: str = "corrected",
    change: str | None = None,
    levels: Sequence[float] | None = None,
) -> Measuring:
    """How far the probability falls when only the highest 1, 5, 10, 20 and 50 % of the tokens are left.

    Mean over the bins of p(x) − p(only the first ⌈share · n⌉ tokens). 'eraser': the sum is divided by the
    number of bins plus one. 'alti': the same, with the highest probability so far (the empty
    text included).
    """
    walk = chosen(BIN_WALKS, protocol, change, levels)
    if reason := unfit(case, walk):
        return passed_over(reason)
    order = case.ranked()
    kept = [order[count:] for count in walk.counts(len(order))]
    empty = case.subject.without(order, walk.change)
    probes = [
        case.subject.whole,
        empty,
        *(case.subject.without(gone, walk.change) for gone in kept),
    ]
    whole, nothing, *left = map(probability, (yield probes))
    if protocol == "alti":
        left = list(np.maximum.accumulate([nothing, *left])[1:])
    falls = [whole - float(p) for p in left]
    return {"": Measure(mean_of(falls, protocol), levels=walk.levels, curve=tuple(falls))}


# -------------------------------------------------------------------------------------- games

GAME_LEVELS = (0.0, *TENTHS)


def play(case: Case, is_hiding: bool, levels: Sequence[float], draws: int) -> Measuring:
    """Whether the right class is predicted at every level, and the area under that curve."""
    levels = shares(levels, 2)
    if draws < 1:
        raise InvalidOption(f"draws={draws} is not possible. Use 1 or more.")
    if case.gold is None:
        return passed_over("no label")
    order = case.ranked()
    if not order:
        return passed_over(NOTHING_TO_REMOVE)
    orders = [order]
    if case.method == "random":
        # Seeded by the length, so that a resumed run draws the same orders without storing a state.
        generator = np.random.default_rng(len(order))
        orders = [list(generator.permutation(order)) for _ in range(draws)]
    counts = Walk(levels=levels).counts(len(order))
    probes = [
        case.subject.without(each[:n] if is_hiding else each[n:], "hide")
        for each in orders
        for n in counts
    ]
    answers = yield probes
    right = [float(answer.predicted == case.gold) for answer in answers]
    curve = np.array(right).reshape(len(orders), len(counts)).mean(0)
    area = float(np.trapezoid(curve, levels) / (levels[-1] - levels[0]))
    return {"": Measure(area, levels=levels, curve=tuple(curve.tolist()))}


@METRICS.register(
    "hiding",
    group="faithfulness",
    needs={"gold"},
    axes=("share of tokens hidden", "accuracy"),
    better="lower",
    paper="Decoding Layer Saliency (2023), Section 4.1",
    takes="11, for `random` 220",
)
def hiding(case: Case, *, levels: Sequence[float] = GAME_LEVELS, draws: int = DRAWS) -> Measuring:
    """Area under the accuracy as tokens are hidden, highest score first.

    Hidden tokens become the mask token and are not attended to. Trapezoids over 0, 10 … 100 % of the
    ordinary tokens. `random` is the mean of 20 random orders.
    """
    return (yield from play(case, True, levels, draws))


@METRICS.register(
    "revealing",
    group="faithfulness",
    needs={"gold"},
    axes=("share of tokens revealed", "accuracy"),
    better="higher",
    paper="Decoding Layer Saliency (2023), Section 4.1",
    takes="11, for `random` 220",
)
def revealing(
    case: Case, *, levels: Sequence[float] = GAME_LEVELS, draws: int = DRAWS
) -> Measuring:
    """Area under the accuracy as tokens are revealed, highest score first.

    As `hiding`, but beginning with everything hidden.
    """
    return (yield from play(case, False, levels, draws))
