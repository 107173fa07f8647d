"""Metrics that take tokens away in the order of their scores and ask the model.

What is common: special tokens, and tokens at which the decision is read, stay. Equal scores are taken in
the order of the text. Probabilities are of the explained target.
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
from headlight.probing.probe import Answer, Probe, check_change

TENTHS = tuple(n / 10 for n in range(1, 11))
NINTHS = tuple(n / 9 for n in range(1, 10))
BINS = (0.01, 0.05, 0.10, 0.20, 0.50)
SMALLEST = 1e-12
"""Probabilities below this count as this in logarithms; a note says so."""
TAKEN_AWAY, FALL = "share of the tokens taken away", "fall of the probability"
"""What axes of several curves say."""
DRAWS = 20
"""Random orders that a game averages for the method 'random'."""


@dataclass(frozen=True)
class Walk:
    """How tokens are taken away, level by level.

    levels: shares of the length. counts_special: the length, and the ranks, include special tokens, which are
    passed over when their turn comes. spares_last: the lowest rank is never reached. shortest: inputs with
    fewer tokens (special ones included) are passed over. rounding of share × length: 'half_up', 'half_even',
    'up'.
    """

    change: str = "delete"
    levels: tuple[float, ...] = TENTHS
    rounding: Literal["half_up", "half_even", "up"] = "half_up"
    counts_special: bool = False
    spares_last: bool = False
    shortest: int = 0

    def counts(self, length: int) -> list[int]:
        """How many ranks each level reaches."""
        exact = [round(level * length, 9) for level in self.levels]
        if self.rounding == "up":
            return [math.ceil(n) for n in exact]
        if self.rounding == "half_even":
            return sorted({round(n) for n in exact} - {0})
        return [math.floor(n + 0.5) for n in exact]

    def removed(self, case: Case) -> list[list[int]]:
        """The positions taken away at every level."""
        eligible = case.subject.eligible
        if not self.counts_special:
            order = case.ranked()
            return [order[:count] for count in self.counts(len(order))]
        order = [int(p) for p in np.argsort(-case.scores, kind="stable")]
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
    """The walk of a protocol, with what the caller wants otherwise."""
    check_protocol(protocol, *walks)
    walk = walks[protocol]
    change = change or walk.change
    check_change(change)
    return replace(walk, change=change, levels=walk.levels if levels is None else shares(levels))


def shares(levels: Sequence[float], fewest: int = 1) -> tuple[float, ...]:
    """Levels in their order, refused if they are not shares of a text."""
    found = tuple(sorted(levels))
    if len(found) < fewest or not all(0 <= level <= 1 for level in found):
        raise InvalidOption(
            f"levels={tuple(levels)} are not shares of a text. Use {fewest} or more from 0 to 1."
        )
    return found


def unfit(case: Case, walk: Walk) -> str:
    """Why an example is passed over, or nothing."""
    if len(case.subject.row) < walk.shortest:
        return f"shorter than {walk.shortest} tokens"
    return "" if case.subject.eligible else "no token may be taken away"


def probes_of(case: Case, walk: Walk) -> tuple[list[float], list[Probe]]:
    """The levels reached, and the whole row followed by the row at each of them."""
    removed = walk.removed(case)
    if len(removed) == len(walk.levels):
        levels = list(walk.levels)
    else:
        levels = [count / len(case.scores) for count in walk.counts(len(case.scores))]
    shorter = [case.subject.without(gone, walk.change) for gone in removed]
    return levels, [case.subject.whole, *shorter]


def probability(answer: Answer) -> float:
    """The probability of the target."""
    return math.exp(answer.log_probability)


# ------------------------------------------------------------------------------ AOPC, log-odds


@METRICS.register(
    "aopc",
    group="faithfulness",
    needs={"probability"},
    axes=(TAKEN_AWAY, FALL),
    chunked=("mask_lrp",),
    better="higher",
    paper="Samek et al. (2017); Mask-LRP, AttCAT",
)
def aopc(
    case: Case,
    *,
    protocol: str = "corrected",
    change: str | None = None,
    levels: Sequence[float] | None = None,
) -> Measuring:
    """How far the probability falls when the highest scores are taken away.

    Mean over levels of p(x) − p(x without the first k tokens). Levels 10 %, 20 % … 100 % of the tokens that
    may be taken away, rounded half up; deleted. 'mask_lrp': nine levels of the length with special tokens,
    rounded half to even, the lowest rank spared, [PAD] attended to, 20 tokens or more. 'attcat': deleted,
    the magnitude of the difference, 10 tokens or more.
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
    axes=(TAKEN_AWAY, "log-odds"),
    chunked=("mask_lrp",),
    better="lower",
    aliases=("lodds",),
    paper="Shrikumar et al. (2017); Mask-LRP, AttCAT",
)
def log_odds(
    case: Case,
    *,
    protocol: str = "corrected",
    change: str | None = None,
    levels: Sequence[float] | None = None,
) -> Measuring:
    """The logarithm of how the probability falls when the highest scores are taken away.

    Mean over levels of ln p(x without the first k tokens) − ln p(x), levels as in `aopc`. A probability below
    1e-12 counts as 1e-12. 'mask_lrp' and 'attcat': as in `aopc`, both with [PAD] attended to.
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
    axes=("tokens taken away", FALL),
    better="higher",
    paper="ALTI, Figure 6",
)
def probability_drop(case: Case, *, most: int = 30, change: str = "delete") -> Measuring:
    """How far the probability falls with every single token that is taken away, up to 30.

    p(x) − p(x without the first k tokens), k = 1 … 30; a text with fewer tokens stays as it is when they are
    gone. The mean over k.
    """
    check_change(change)
    if most < 1:
        raise InvalidOption(f"most={most} is not possible. Use 1 or more.")
    order = case.ranked()
    if not order:
        return passed_over("no token may be taken away")
    shorter = [case.subject.without(order[:count], change) for count in range(1, most + 1)]
    whole, *left = map(probability, (yield [case.subject.whole, *shorter]))
    falls = tuple(whole - p for p in left)
    levels = tuple(float(count) for count in range(1, most + 1))
    return {"": Measure(float(np.mean(falls)), levels=levels, curve=falls)}


# ------------------------------------------------------------ comprehensiveness and sufficiency

ERASER_WALK = Walk(levels=BINS, rounding="up")
BIN_WALKS = {"corrected": ERASER_WALK, "eraser": ERASER_WALK, "alti": ERASER_WALK}


def mean_of(falls: list[float], protocol: str) -> float:
    """The mean over bins; the papers divide by one more, for the empty bin."""
    return sum(falls) / (len(falls) + (protocol != "corrected"))


@METRICS.register(
    "comprehensiveness",
    group="faithfulness",
    needs={"probability"},
    axes=(TAKEN_AWAY, FALL),
    better="higher",
    paper="DeYoung et al. (2020); ALTI",
)
def comprehensiveness(
    case: Case,
    *,
    protocol: str = "corrected",
    change: str | None = None,
    levels: Sequence[float] | None = None,
) -> Measuring:
    """How far the probability falls without the highest scores, at 1, 5, 10, 20 and 50 %.

    Mean over the bins of p(x) − p(x without the first ⌈share · n⌉ tokens). 'eraser': divided by the number of
    bins and one. 'alti': the same, with the least probability so far.
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
    axes=("share of the tokens left", FALL),
    better="lower",
    paper="DeYoung et al. (2020); ALTI",
)
def sufficiency(
    case: Case,
    *,
    protocol: str = "corrected",
    change: str | None = None,
    levels: Sequence[float] | None = None,
) -> Measuring:
    """How far the probability falls when only the highest scores are left, at 1, 5, 10, 20 and 50 %.

    Mean over the bins of p(x) − p(only the first ⌈share · n⌉ tokens). 'eraser': divided by the number of bins
    and one. 'alti': the same, with the greatest probability so far, beginning with the empty text.
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
    """Whether the right class is still, or already, predicted at every level; the area under that."""
    levels = shares(levels, 2)
    if draws < 1:
        raise InvalidOption(f"draws={draws} is not possible. Use 1 or more.")
    if case.gold is None:
        return passed_over("no label")
    order = case.ranked()
    if not order:
        return passed_over("no token may be taken away")
    orders = [order]
    if case.method == "random":
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
    axes=("share of the tokens hidden", "accuracy"),
    better="lower",
    paper="Decoding Layer Saliency (2023), Section 4.1",
)
def hiding(case: Case, *, levels: Sequence[float] = GAME_LEVELS, draws: int = DRAWS) -> Measuring:
    """Accuracy while the highest scores are hidden first, as the area under its curve.

    Hidden tokens become the mask token and are not attended to. Trapezoids over 0, 10 … 100 % of the
    ordinary tokens. `random` is the mean of 20 orders.
    """
    return (yield from play(case, True, levels, draws))


@METRICS.register(
    "revealing",
    group="faithfulness",
    needs={"gold"},
    axes=("share of the tokens revealed", "accuracy"),
    better="higher",
    paper="Decoding Layer Saliency (2023), Section 4.1",
)
def revealing(
    case: Case, *, levels: Sequence[float] = GAME_LEVELS, draws: int = DRAWS
) -> Measuring:
    """Accuracy while the highest scores are revealed first, as the area under its curve.

    As `hiding`, beginning with everything hidden.
    """
    return (yield from play(case, False, levels, draws))


# -------------------------------------------------------------------------------- completeness


@METRICS.register(
    "completeness", group="faithfulness", better="lower", paper="Sundararajan et al. (2017)"
)
def completeness(case: Case) -> Measuring:
    """How far signed scores miss the difference that they should add up to, from 0 to 1.

    |Σ − Δ| / (|Σ| + |Δ|), Σ the sum of the scores, Δ the explained logit less that of the input with every
    ordinary token masked ([PAD] where there is no mask token). Only methods meant to add up, such as
    integrated_gradients, come near 0.
    """
    subject = case.subject
    if not case.signed:
        return passed_over("scores without sign add up to nothing")
    if not subject.eligible:
        return passed_over("no token may be taken away")
    change = "mask" if subject.mask_id is not None else "pad_attended"
    answers = yield [subject.whole, subject.without(subject.eligible, change)]
    gained, total = answers[0].logit - answers[1].logit, float(case.scores.sum())
    return {"": Measure(abs(total - gained) / max(abs(total) + abs(gained), SMALLEST))}
