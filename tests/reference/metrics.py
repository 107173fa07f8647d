"""Every metric a second time: from the papers' protocols and the metrics' descriptions, with loops.

An oracle knows a `Sentence`: plain lists, and a model that gives the probabilities of all classes for a list
of token ids and which of them are attended to.
"""

import math
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from typing import Protocol, TypeVar

import numpy as np


class Predict(Protocol):
    """Numbers of all classes; shares: how much of each token is left, the whole of it by default."""

    def __call__(
        self, ids: Sequence[int], attended: Sequence[bool], shares: Sequence[float] = ()
    ) -> list[float]: ...


Shares = Sequence[Fraction]

TENTHS = [Fraction(n, 10) for n in range(1, 11)]
NINTHS = [Fraction(n, 9) for n in range(1, 10)]
BINS = [Fraction(n, 100) for n in (1, 5, 10, 20, 50)]
SMALLEST = 1e-12


@dataclass(frozen=True)
class Sentence:
    """An example, its scores and its model.

    label: the explained class. kept: positions at which the decision is read, of a head that decides token by
    token.
    """

    ids: list[int]
    special: list[bool]
    scores: list[float]
    predict: Predict
    logits: Predict
    label: int = 1
    attended: list[bool] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    mask_id: int | None = 4
    pad_id: int | None = 0
    unknown_id: int | None = 5
    gold: int | None = None
    signed: bool = True
    answers: list[list[int]] = field(default_factory=list)
    marks: list[bool] | None = None
    runner_up: list[float] | None = None
    rivals: dict[str, list[float]] = field(default_factory=dict)
    randomised: dict[int, list[float]] = field(default_factory=dict)
    ledger: list[float] | None = None
    sources: list[int | None] = field(default_factory=list)
    right_source: int | None = None
    explained: float = math.nan

    @property
    def seen(self) -> list[bool]:
        return self.attended or [True] * len(self.ids)

    def removable(self) -> list[int]:
        return [p for p in range(len(self.ids)) if not self.special[p] and p not in self.kept]

    def ordinary(self) -> list[int]:
        return [p for p in range(len(self.ids)) if not self.special[p]]


@dataclass(frozen=True)
class Found:
    value: float
    curve: list[float] = field(default_factory=list)
    weight: float = 1.0


Oracle = Callable[[Sentence], dict[str, Found]]
Written = TypeVar("Written", bound=Callable[..., dict[str, Found]])
ORACLES: dict[tuple[str, str], Oracle] = {}
NOTHING = {"": Found(math.nan)}


def replicates(metric: str, *protocols: str) -> Callable[[Written], Written]:
    """Tie an oracle to the metric and the protocols it replicates; '' is a metric without protocols."""

    def add(oracle: Written) -> Written:
        for protocol in protocols:
            ORACLES[metric, protocol] = under(oracle, protocol) if protocol else oracle
        return oracle

    return add


def under(oracle: Callable[..., dict[str, Found]], protocol: str) -> Oracle:
    return lambda sentence: oracle(sentence, protocol)


def mean(values: Collection[float]) -> float:
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def descending(s: Sentence, positions: Sequence[int], lot: int = 0) -> list[int]:
    """Highest score first; equal scores by lots that depend on the ids."""
    lots = np.random.default_rng([lot, *s.ids]).permutation(len(s.ids)).tolist()
    return sorted(positions, key=lambda p: (-s.scores[p], lots[p]))


# --------------------------------------------------------------------------------- perturbing


def perturbed(s: Sentence, gone: Collection[int], change: str) -> tuple[list[int], list[bool]]:
    ids, attended = [], []
    for position, token in enumerate(s.ids):
        if position not in gone:
            ids.append(token)
            attended.append(s.seen[position])
        elif change == "mask":
            assert s.mask_id is not None
            ids.append(s.mask_id)
            attended.append(s.seen[position])
        elif change == "unknown":
            assert s.unknown_id is not None
            ids.append(s.unknown_id)
            attended.append(s.seen[position])
        elif change == "hide":
            ids.append(s.mask_id if s.mask_id is not None else s.pad_id or 0)
            attended.append(False)
        elif change == "pad":
            ids.append(s.pad_id or 0)
            attended.append(False)
        elif change == "pad_attended":
            ids.append(s.pad_id or 0)
            attended.append(s.seen[position])
    return (ids, attended) if ids else ([s.pad_id or 0], [True])


def probability(s: Sentence, gone: Collection[int], change: str) -> float:
    return s.predict(*perturbed(s, gone, change))[s.label]


def half_up(number: Fraction) -> int:
    return math.floor(number + Fraction(1, 2))


def plain_steps(s: Sentence) -> list[list[int]]:
    """What is gone at 10 %, 20 % … of what may go."""
    order = descending(s, s.removable())
    return [order[: half_up(tenth * len(order))] for tenth in TENTHS]


def released_steps(s: Sentence) -> list[list[int]]:
    """What is gone at 1/9, 2/9 … of all ranks; special tokens have a rank, and the last one is spared."""
    length = len(s.ids)
    ranks = descending(s, range(length))
    counts: list[int] = []
    for ninth in NINTHS:
        count = round(ninth * length)
        if count > 0 and count not in counts:
            counts.append(count)
    steps = []
    for count in counts:
        gone = []
        for rank in range(min(count, length - 1)):
            position = ranks[rank]
            if position in s.removable():
                gone.append(position)
        steps.append(gone)
    return steps


SHORTEST = {"corrected": 0, "mask_lrp": 20, "attcat": 10}


def curve_of(s: Sentence, protocol: str, change: str) -> tuple[float, list[float]] | None:
    """The probability of the whole sentence and at every level; nothing for a sentence passed over."""
    if len(s.ids) < SHORTEST[protocol] or not s.removable():
        return None
    steps = plain_steps(s) if protocol == "corrected" else released_steps(s)
    return probability(s, [], change), [probability(s, gone, change) for gone in steps]


@replicates("aopc", "corrected", "mask_lrp", "attcat")
def aopc(s: Sentence, protocol: str) -> dict[str, Found]:
    found = curve_of(s, protocol, "pad_attended" if protocol == "mask_lrp" else "delete")
    if found is None:
        return NOTHING
    whole, levels = found
    falls = [abs(whole - p) if protocol == "attcat" else whole - p for p in levels]
    return {"": Found(mean(falls), falls)}


@replicates("log_odds", "corrected", "mask_lrp", "attcat")
def log_odds(s: Sentence, protocol: str) -> dict[str, Found]:
    found = curve_of(s, protocol, "delete" if protocol == "corrected" else "pad_attended")
    if found is None:
        return NOTHING
    whole, levels = found
    ratios = [math.log(max(p, SMALLEST) / max(whole, SMALLEST)) for p in levels]
    return {"": Found(mean(ratios), ratios)}


@replicates("probability_drop", "")
def probability_drop(s: Sentence, most: int = 30) -> dict[str, Found]:
    order = descending(s, s.removable())
    if not order:
        return NOTHING
    whole, falls = probability(s, [], "delete"), []
    gone: list[int] = []
    for step in range(most):
        gone += order[step : step + 1]
        falls.append(whole - probability(s, gone, "delete"))
    return {"": Found(mean(falls), falls)}


def divisor(protocol: str) -> int:
    return len(BINS) if protocol == "corrected" else len(BINS) + 1


@replicates("comprehensiveness", "corrected", "eraser", "alti")
def comprehensiveness(s: Sentence, protocol: str) -> dict[str, Found]:
    order = descending(s, s.removable())
    if not order:
        return NOTHING
    whole = lowest = probability(s, [], "delete")
    falls = []
    for share in BINS:
        p = probability(s, order[: math.ceil(share * len(order))], "delete")
        lowest = min(lowest, p)
        falls.append(whole - (lowest if protocol == "alti" else p))
    return {"": Found(sum(falls) / divisor(protocol), falls)}


@replicates("sufficiency", "corrected", "eraser", "alti")
def sufficiency(s: Sentence, protocol: str) -> dict[str, Found]:
    order = descending(s, s.removable())
    if not order:
        return NOTHING
    whole = probability(s, [], "delete")
    highest = probability(s, order, "delete")
    falls = []
    for share in BINS:
        p = probability(s, order[math.ceil(share * len(order)) :], "delete")
        highest = max(highest, p)
        falls.append(whole - (highest if protocol == "alti" else p))
    return {"": Found(sum(falls) / divisor(protocol), falls)}


# --------------------------------------------------------------------------- limits of the AOPC


def stepwise_aopc(s: Sentence, order: Sequence[int], steps: int = 30) -> float:
    """The mean fall over steps of equal size."""
    size = math.ceil(Fraction(len(order), steps))
    whole = probability(s, [], "delete")
    ends = range(size, len(order) + size, size)
    return mean([whole - probability(s, order[:done], "delete") for done in ends])


def exact_limits(s: Sentence) -> tuple[float, float]:
    """By going through all orders, so only for short sentences."""
    places = s.removable()
    left = {
        frozenset(gone): probability(s, gone, "delete")
        for size in range(len(places) + 1)
        for gone in combinations(places, size)
    }
    whole, least, greatest = left[frozenset()], math.inf, -math.inf
    for order in permutations(places):
        total, gone = 0.0, frozenset[int]()
        for position in order:
            gone |= {position}
            total += whole - left[gone]
        least, greatest = min(least, total), max(greatest, total)
    return least / len(places), greatest / len(places)


def greedy_limits(s: Sentence, steps: int = 30, tried: int = 16) -> tuple[float, float]:
    """By taking at every step the tokens that do most; all are tried at first, then those that did most."""
    size = math.ceil(Fraction(len(s.removable()), steps))
    found = []
    for sign in (1, -1):
        effect = dict.fromkeys(s.removable(), 0.0)
        order: list[int] = []
        while effect:
            best_first = sorted(effect, key=lambda p: (effect[p], p))
            for p in best_first[: max(tried, min(size, len(effect)) + 1) if order else None]:
                effect[p] = sign * probability(s, [*order, p], "delete")
            for p in sorted(effect, key=lambda p: (effect[p], p))[:size]:
                order.append(p)
                del effect[p]
        found.append(stepwise_aopc(s, order, steps))
    return found[1], found[0]


def between_limits(s: Sentence, order: Sequence[int]) -> float:
    if not order:
        return math.nan
    least, greatest = exact_limits(s) if len(order) <= 8 else greedy_limits(s)
    if greatest - least < 1e-4:
        return math.nan
    return (stepwise_aopc(s, order) - least) / (greatest - least)


@replicates("naopc", "")
def naopc(s: Sentence) -> dict[str, Found]:
    return {"": Found(between_limits(s, descending(s, s.removable())))}


@replicates("naopc_sufficiency", "")
def naopc_sufficiency(s: Sentence) -> dict[str, Found]:
    return {"": Found(1 - between_limits(s, descending(s, s.removable())[::-1]))}


# ---------------------------------------------------------------------------------------- soft

PI = [n / 10 for n in range(1, 10)]


def ramp(count: int, average: float) -> list[float]:
    """Falls evenly; at every rank the height of a line through the middle, from or to the border."""
    if average <= 0.5:
        return [2 * average * (count - rank - 0.5) / count for rank in range(count)]
    return [1 - 2 * (1 - average) * (rank + 0.5) / count for rank in range(count)]


def water_level(sizes: Sequence[float], average: float) -> list[float]:
    """min(1, λ · size) with this average, λ found by halving; without size enough, the rest is shared."""
    positive = [size for size in sizes if size > 0]
    if len(positive) <= average * len(sizes):
        rest = average * len(sizes) - len(positive)
        empty = len(sizes) - len(positive)
        return [1.0 if size > 0 else rest / empty for size in sizes]
    low, high = 0.0, 1 / min(positive)
    for _ in range(200):
        middle = (low + high) / 2
        if mean([min(1.0, middle * size) for size in sizes]) < average:
            low = middle
        else:
            high = middle
    return [min(1.0, low * size) for size in sizes]


def soft(s: Sentence, protocol: str, is_comprehensive: bool) -> dict[str, Found]:
    order = descending(s, s.removable())
    if not order:
        return NOTHING
    whole, curve = probability(s, [], "delete"), []
    for average in PI:
        if protocol == "corrected":
            left = ramp(len(order), average)
            left = left[::-1] if is_comprehensive else left
        elif is_comprehensive:
            left = [
                1 - lost for lost in water_level([abs(s.scores[p]) for p in order], 1 - average)
            ]
        else:
            left = water_level([abs(s.scores[p]) for p in order], average)
        shares = [left[order.index(p)] if p in order else 1.0 for p in range(len(s.ids))]
        drawn = [
            s.predict(s.ids, s.seen, [share * (1 + draw / 10) for share in shares])[s.label]
            for draw in range(3)
        ]
        curve.append(whole - mean(drawn))
    return {"": Found(mean(curve), curve)}


@replicates("soft_comprehensiveness", "corrected", "proportional")
def soft_comprehensiveness(s: Sentence, protocol: str) -> dict[str, Found]:
    return soft(s, protocol, is_comprehensive=True)


@replicates("soft_sufficiency", "corrected", "proportional")
def soft_sufficiency(s: Sentence, protocol: str) -> dict[str, Found]:
    return soft(s, protocol, is_comprehensive=False)


# --------------------------------------------------------------------------------------- truth


def known_tokens(s: Sentence) -> list[int]:
    """The marked ordinary tokens; none if all of them are."""
    found = [p for p in s.ordinary() if s.marks is not None and s.marks[p]]
    return found if len(found) < len(s.ordinary()) else []


@replicates("pointing", "")
def pointing(s: Sentence) -> dict[str, Found]:
    known = known_tokens(s)
    if not known:
        return NOTHING
    highest = max(s.scores[p] for p in s.ordinary())
    first = [p for p in s.ordinary() if s.scores[p] == highest]
    return {"": Found(len([p for p in first if p in known]) / len(first))}


@replicates("truth_rank", "")
def truth_rank(s: Sentence) -> dict[str, Found]:
    known = known_tokens(s)
    if not known:
        return NOTHING
    highest = max(s.scores[p] for p in known)
    ahead = sum(s.scores[p] > highest for p in s.ordinary())
    tied = [p for p in s.ordinary() if s.scores[p] == highest]
    hits = len([p for p in tied if p in known])
    total = 0.0
    for place in range(1, len(tied) - hits + 2):
        # Ways to have the first of the hits at this place: the others are anywhere behind it.
        ways = math.comb(len(tied) - place, hits - 1)
        total += ways / (ahead + place)
    return {"": Found(total / math.comb(len(tied), hits))}


@replicates("truth_mass", "")
def truth_mass(s: Sentence) -> dict[str, Found]:
    known = known_tokens(s)
    if not known:
        return NOTHING
    total = sum(s.scores[p] for p in s.ordinary() if s.scores[p] > 0)
    mine = sum(s.scores[p] for p in known if s.scores[p] > 0)
    return {"": Found(mine / total if total else 0.0)}


# -------------------------------------------------------------------------------------- games


def game(s: Sentence, hidden_first: bool) -> dict[str, Found]:
    order = descending(s, s.removable())
    if s.gold is None or not order:
        return NOTHING
    curve = []
    for share in [Fraction(0), *TENTHS]:
        count = half_up(share * len(order))
        gone = order[:count] if hidden_first else order[count:]
        p = s.predict(*perturbed(s, gone, "hide"))
        curve.append(1.0 if p.index(max(p)) == s.gold else 0.0)
    area = 0.0
    for left, right in pairwise(curve):
        area += 0.1 * (left + right) / 2
    return {"": Found(area, curve)}


@replicates("hiding", "")
def hiding(s: Sentence) -> dict[str, Found]:
    return game(s, hidden_first=True)


@replicates("revealing", "")
def revealing(s: Sentence) -> dict[str, Found]:
    return game(s, hidden_first=False)


@replicates("completeness", "")
def completeness(s: Sentence) -> dict[str, Found]:
    if not s.signed or not s.removable():
        return NOTHING
    change = "pad_attended" if s.mask_id is None else "mask"
    whole = s.logits(s.ids, s.seen)[s.label]
    gained = whole - s.logits(*perturbed(s, s.removable(), change))[s.label]
    total = sum(s.scores)
    size = abs(total) + abs(gained)
    return {"": Found(abs(total - gained) / size if size > SMALLEST else 0.0)}


# -------------------------------------------------------------------------------- plausibility

K = 20


def hit_count(best: Sequence[int], answer: Sequence[int]) -> int:
    return sum(1 for position in answer if position in best)


@replicates("precision_at_k", "corrected", "attcat", "mask_lrp")
def precision_at_k(s: Sentence, protocol: str, k: int = K) -> dict[str, Found]:
    if not s.answers:
        return NOTHING
    if protocol == "corrected":
        best = descending(s, s.ordinary())[:k]
        return {"": Found(max(hit_count(best, a) for a in s.answers) / len(best))}
    count = hit_count(descending(s, range(len(s.ids)))[:k], s.answers[0])
    if protocol == "attcat":
        return {"": Found(float(count))}
    return {"": Found(count / len(s.answers[0]), weight=len(s.answers[0]))}


@replicates("recall_at_k", "corrected", "attcat", "mask_lrp")
def recall_at_k(s: Sentence, protocol: str, k: int = K) -> dict[str, Found]:
    if not s.answers:
        return NOTHING
    if protocol == "corrected":
        best = descending(s, s.ordinary())[:k]
        return {"": Found(max(hit_count(best, a) / len(a) for a in s.answers))}
    first = s.answers[0]
    count = hit_count(descending(s, range(len(s.ids)))[:k], first)
    return {"": Found(count / len(first), weight=len(first) if protocol == "mask_lrp" else 1.0)}


def runs(flags: Sequence[bool]) -> list[tuple[int, int]]:
    """First and last position of every run of true flags."""
    found, start = [], None
    for position, flag in enumerate([*flags, False]):
        if flag and start is None:
            start = position
        if not flag and start is not None:
            found.append((start, position - 1))
            start = None
    return found


def run_overlap(first: tuple[int, int], second: tuple[int, int]) -> Fraction:
    common = max(0, min(first[1], second[1]) - max(first[0], second[0]) + 1)
    sizes = first[1] - first[0] + 1 + second[1] - second[0] + 1
    return Fraction(common, sizes - common)


def eraser_iou(chosen: Sequence[bool], marks: Sequence[bool]) -> float:
    """F1 of chosen runs, those true that overlap a marked run by half or more."""
    mine, theirs = runs(chosen), runs(marks)
    true = 0
    for one in mine:
        if max(run_overlap(one, other) for other in theirs) >= Fraction(1, 2):
            true += 1
    precision, recall = true / len(mine), true / len(theirs)
    return 2 * precision * recall / (precision + recall) if true else 0.0


def average_precision(scores: Sequence[float], marks: Sequence[bool]) -> float:
    """Σ (Rₙ − Rₙ₋₁) Pₙ over the thresholds, one for every different score."""
    area, before = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        taken = [mark for score, mark in zip(scores, marks, strict=True) if score >= threshold]
        recall, precision = sum(taken) / sum(marks), sum(taken) / len(taken)
        area += (recall - before) * precision
        before = recall
    return area


@replicates("rationale", "corrected", "eraser")
def rationale(s: Sentence, protocol: str) -> dict[str, Found]:
    ordinary = s.ordinary()
    marked = [p for p in ordinary if s.marks is not None and s.marks[p]]
    if not marked or len(marked) == len(ordinary):
        return NOTHING
    best = descending(s, ordinary)[: len(marked)]
    common = [p for p in best if p in marked]
    precision, recall = len(common) / len(best), len(common) / len(marked)
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    iou = len(common) / len({*best, *marked})
    if protocol == "eraser":
        places = range(len(s.ids))
        iou = eraser_iou([p in best for p in places], [p in marked for p in places])
    area = average_precision([s.scores[p] for p in ordinary], [p in marked for p in ordinary])
    return {"f1": Found(f1), "iou": Found(iou), "auprc": Found(area)}


# ----------------------------------------------------------------------------------- stability


def sign(number: float) -> int:
    return (number > 0) - (number < 0)


def kendall(first: Sequence[float], second: Sequence[float]) -> float:
    """τ_b: agreeing less disagreeing pairs over the root of the pairs untied on either side."""
    score = untied_first = untied_second = 0
    for i in range(len(first)):
        for j in range(i):
            a, b = sign(first[i] - first[j]), sign(second[i] - second[j])
            score += a * b
            untied_first += a != 0
            untied_second += b != 0
    size = math.sqrt(untied_first * untied_second)
    return score / size if size else math.nan


def mean_ranks(values: Sequence[float]) -> list[float]:
    return [
        sum(v < own for v in values) + (sum(v == own for v in values) + 1) / 2 for own in values
    ]


def dense_ranks(values: Sequence[float]) -> list[int]:
    return [1 + len({v for v in values if v > own}) for own in values]


def pearson(first: Sequence[float], second: Sequence[float]) -> float:
    a, b = mean(first), mean(second)
    covariance = sum((x - a) * (y - b) for x, y in zip(first, second, strict=True))
    spread = math.sqrt(sum((x - a) ** 2 for x in first) * sum((y - b) ** 2 for y in second))
    return covariance / spread if spread else math.nan


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    if len(first) < 2:
        return math.nan
    return pearson(mean_ranks(first), mean_ranks(second))


def of(scores: Sequence[float], positions: Sequence[int]) -> list[float]:
    return [scores[p] for p in positions]


def mean_of_known(values: Sequence[float]) -> dict[str, Found]:
    known = [value for value in values if not math.isnan(value)]
    return {"": Found(mean(known))} if known else NOTHING


@replicates("kendall_confidence", "corrected", "attcat")
def kendall_confidence(s: Sentence, protocol: str) -> dict[str, Found]:
    if s.runner_up is None:
        return NOTHING
    if protocol == "attcat":
        everywhere = range(len(s.ids))
        orders = [
            sorted(everywhere, key=lambda p: (-scores[p], p)) for scores in (s.scores, s.runner_up)
        ]
        return {"": Found(kendall(*orders))}
    own, other = of(s.scores, s.ordinary()), of(s.runner_up, s.ordinary())
    if len(own) < 2:
        return NOTHING
    if len(set(own)) == 1:
        return {"": Found(1.0)}
    return {"": Found(0.0 if len(set(other)) == 1 else kendall(own, other))}


@replicates("jaccard", "corrected", "alti")
def jaccard(s: Sentence, protocol: str, share: Fraction = Fraction(1, 4)) -> dict[str, Found]:
    places = s.ordinary() if protocol == "corrected" else range(len(s.ids))
    count = math.ceil(share * len(places))
    own = descending(s, places)[:count]
    values = []
    for scores in s.rivals.values():
        theirs = descending(replace(s, scores=scores), places, lot=1)[:count]
        values.append(len([p for p in own if p in theirs]) / len({*own, *theirs}))
    return mean_of_known(values)


@replicates("spearman", "corrected", "alti")
def spearman(s: Sentence, protocol: str) -> dict[str, Found]:
    values = []
    for scores in s.rivals.values():
        places = s.ordinary() if protocol == "corrected" else range(len(s.ids))
        if len(places) > 1 and 1 in (len({*of(s.scores, places)}), len({*of(scores, places)})):
            values.append(0.0)
            continue
        if protocol == "corrected":
            values.append(rank_correlation(of(s.scores, s.ordinary()), of(scores, s.ordinary())))
            continue
        n = len(scores)
        ranks = zip(dense_ranks(s.scores), dense_ranks(scores), strict=True)
        values.append(1 - 6 * sum((a - b) ** 2 for a, b in ranks) / (n * (n**2 - 1)))
    return mean_of_known(values)


@replicates("randomisation", "")
def randomisation(s: Sentence) -> dict[str, Found]:
    if not s.randomised:
        return NOTHING
    curve = []
    for depth in sorted(s.randomised):
        value = rank_correlation(of(s.scores, s.ordinary()), of(s.randomised[depth], s.ordinary()))
        own_order = len({s.scores[p] for p in s.ordinary()}) > 1
        curve.append((0.0 if own_order else 1.0) if math.isnan(value) else abs(value))
    return {"": Found(mean(curve), curve)}


@replicates("conservation", "")
def conservation(s: Sentence) -> dict[str, Found]:
    if s.ledger is None:
        return NOTHING
    return {"": Found(max(abs(total - 1) for total in s.ledger), s.ledger)}


# --------------------------------------------------------------------------------------- words

Corpus = Sequence[tuple[Sequence[str], Sequence[float], str]]
"""Tokens, scores and predicted class of every example."""


def class_words(
    examples: Corpus,
    count: int,
    documents: tuple[Mapping[str, int], int] | None = None,
    weights: Sequence[float] | None = None,
) -> dict[str, list[tuple[str, float]]]:
    found = {}
    for label in sorted({label for *_, label in examples}):
        sums: dict[str, float] = {}
        for number, (tokens, scores, own) in enumerate(examples):
            for token, score in zip(tokens, scores, strict=True):
                if own == label:
                    weight = 1.0 if weights is None else weights[number]
                    sums[token] = sums.get(token, 0.0) + weight * score
        weighed = []
        for token, total in sums.items():
            if documents is None:
                holding, size = sum(token in tokens for tokens, *_ in examples), len(examples)
            else:
                holding, size = documents[0].get(token, 0), documents[1]
            weighed.append((token, total * (math.log((1 + size) / (1 + holding)) + 1)))
        found[label] = sorted(weighed, key=lambda pair: (-pair[1], pair[0]))[:count]
    return found


def token_overlap(
    examples: Corpus,
    sizes: Sequence[int],
    documents: tuple[Mapping[str, int], int] | None = None,
    weights: Sequence[float] | None = None,
) -> Found:
    words = class_words(examples, max(sizes), documents, weights)
    labels = list(words)
    if len(labels) < 2:
        return Found(math.nan)
    curve = []
    for size in sizes:
        shared = pairs = 0
        for i in range(len(labels)):
            for j in range(i):
                first, second = ([t for t, _ in words[labels[n]][:size]] for n in (i, j))
                shared += len([token for token in first if token in second])
                pairs += 1
        curve.append(shared / (pairs * size))
    return Found(mean(curve), curve)


# ------------------------------------------------------------------------------------- sources


def numbers_of_sources(s: Sentence) -> list[int]:
    return sorted({number for number in s.sources if number is not None})


def score_of_source(s: Sentence, number: int) -> float:
    total = 0.0
    for position, own in enumerate(s.sources):
        total += s.scores[position] if own == number else 0.0
    return total


def log_without(s: Sentence, removed: Collection[int]) -> float:
    gone = [p for p, number in enumerate(s.sources) if number in removed]
    return math.log(s.predict(*perturbed(s, gone, "delete"))[s.label])


@replicates("top_drop", "")
def top_drop(s: Sentence) -> dict[str, Found]:
    numbers = numbers_of_sources(s)
    if len(numbers) < 2:
        return NOTHING
    lots = np.random.default_rng([0, *s.ids]).permutation(len(numbers)).tolist()
    order = sorted(numbers, key=lambda number: (-score_of_source(s, number), lots[number]))
    whole = log_without(s, [])
    return {str(k): Found(whole - log_without(s, order[:k])) for k in (1, 3) if k < len(numbers)}


def ranks(values: Sequence[float]) -> list[float]:
    found = []
    for value in values:
        below = sum(other < value for other in values)
        equal = sum(other == value for other in values)
        found.append(below + (equal + 1) / 2)
    return found


def kept_halves(count: int) -> list[list[int]]:
    """All ways to keep half of the units, or 64 drawn ones."""
    every = [list(each) for each in combinations(range(count), count // 2)]
    if len(every) <= 64:
        return every
    drawn = np.random.default_rng(0).random((64, count))
    return [sorted(range(count), key=lambda n: row[n])[: count // 2] for row in drawn.tolist()]


def sums_and_logs(s: Sentence) -> tuple[list[float], list[float]] | None:
    """Summed scores of kept sources, or of tokens where there are no sources, and what the model says then."""
    if s.sources:
        numbers = numbers_of_sources(s)
        units = [[p for p, own in enumerate(s.sources) if own == number] for number in numbers]
    else:
        units = [[p] for p in s.removable()]
    if len(units) < 2:
        return None
    largest = max(abs(sum(s.scores[p] for p in unit)) for unit in units) or 1.0
    sums, logs = [], []
    for kept in kept_halves(len(units)):
        sums.append(round(sum(s.scores[p] for n in kept for p in units[n]) / largest, 9))
        gone = [p for n, unit in enumerate(units) if n not in kept for p in unit]
        logs.append(math.log(probability(s, gone, "delete")))
    return sums, logs


@replicates("lds", "")
def lds(s: Sentence) -> dict[str, Found]:
    found = sums_and_logs(s)
    if found is None or len(set(found[1])) == 1:
        return NOTHING
    sums, logs = found
    return {"": Found(0.0 if len(set(sums)) == 1 else pearson(ranks(sums), ranks(logs)))}


@replicates("sensitivity_n", "")
def sensitivity_n(s: Sentence) -> dict[str, Found]:
    found = sums_and_logs(s)
    if found is None or len(set(found[1])) == 1:
        return NOTHING
    sums, logs = found
    return {"": Found(0.0 if len(set(sums)) == 1 else pearson(sums, logs))}


@replicates("source_recall", "")
def source_recall(s: Sentence) -> dict[str, Found]:
    numbers = numbers_of_sources(s)
    if len(numbers) < 2 or s.right_source is None:
        return NOTHING
    scores = [score_of_source(s, number) for number in numbers]
    first = [n for n, score in zip(numbers, scores, strict=True) if score == max(scores)]
    return {"": Found(1 / len(first) if s.right_source in first else 0.0)}


@replicates("answer_completeness", "")
def answer_completeness(s: Sentence) -> dict[str, Found]:
    if not s.signed or math.isnan(s.explained) or s.explained == 0:
        return NOTHING
    total = 0.0
    for score in s.scores:
        total += score
    return {"": Found(abs(total - s.explained) / abs(s.explained))}


# ---------------------------------------------------------------------------------- statistics


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    known = [(v, w) for v, w in zip(values, weights, strict=True) if not math.isnan(v)]
    return sum(v * w for v, w in known) / sum(w for _, w in known)


def standard_error(values: Sequence[float], weights: Sequence[float]) -> float:
    """Of a weighted mean, that is of a ratio of two sums; s / √n where all weights are equal."""
    known = [(v, w) for v, w in zip(values, weights, strict=True) if not math.isnan(v)]
    n, centre = len(known), weighted_mean(values, weights)
    mean_weight = sum(w for _, w in known) / n
    variance = sum((w / mean_weight * (v - centre)) ** 2 for v, w in known) / (n - 1)
    return math.sqrt(variance / n)


def bootstrap_interval(
    values: Sequence[float], weights: Sequence[float], resamples: int = 4_000
) -> tuple[float, float]:
    known = [(v, w) for v, w in zip(values, weights, strict=True) if not math.isnan(v)]
    generator = random.Random(0)
    means = sorted(
        weighted_mean(*zip(*generator.choices(known, k=len(known)), strict=True))
        for _ in range(resamples)
    )
    return means[round(0.025 * resamples)], means[round(0.975 * resamples)]


def sign_test(gaps: Sequence[int]) -> float:
    """The share of all changes of sign whose sum is as far from 0: Fisher's test, exactly."""
    observed = abs(sum(gaps))
    as_far = 0
    for signs in product((-1, 1), repeat=len(gaps)):
        as_far += abs(sum(a * b for a, b in zip(signs, gaps, strict=True))) >= observed
    return as_far / 2 ** len(gaps)


def mean_of_chunks(values: Sequence[float], processes: int) -> float:
    size = max(1, len(values) // processes)
    means, chunk = [], []
    for number, value in enumerate(values, 1):
        chunk.append(value)
        if number % size == 0 or number == len(values):
            known = [v for v in chunk if not math.isnan(v)]
            means += [mean(known)] if known else []
            chunk = []
    return mean(means) if means else math.nan
