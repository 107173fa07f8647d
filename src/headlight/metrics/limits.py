"""AOPC between its limits: the least and the greatest that any order of removal has on the same text.

The limits belong to a model, a text and a target, so they are searched for once and shared by all methods.
"""

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np

from headlight.metrics.case import METRICS, Case, Measure, Measures, Measuring, passed_over
from headlight.metrics.curves import NOTHING_TO_REMOVE, probability
from headlight.probing.probe import Outcome, Probe, Subject, check_change
from headlight.registry.options import Count

EXACT = 8
"""Up to this many tokens all sets of them are removed: 2⁸ passes."""
NARROW = 1e-4
"""Limits that are nearer to each other say nothing about orders."""
WIDTH = 1
"""Wider searches find limits that are further apart by less than a hundredth (docs/adr/0027)."""
STEPS = 30
TRIED = 16
"""How many tokens are tried at every step but the first, at which all are."""

Gone = tuple[int, ...]
"""Positions that are removed, in ascending order."""
Searching = Generator[Sequence[Probe], Sequence[Outcome], "Limits | None"]


@dataclass(frozen=True)
class Limits:
    """The least and the greatest AOPC of a text over all orders, or over those that a search found."""

    least: float
    greatest: float

    def placed(self, aopc: float) -> float:
        """0 at the least, 1 at the greatest; beyond if the search missed an order."""
        return (aopc - self.least) / (self.greatest - self.least)


def sizes_of(count: int, steps: int) -> list[int]:
    """How many tokens are gone after every step: all steps equally large, but for a smaller last one."""
    step = math.ceil(count / steps)
    return [*range(step, count, step), count]


def limits_of(
    subject: Subject, *, change: str = "delete", width: Count = WIDTH, steps: Count = STEPS
) -> Searching:
    """The limits of a text; None if nothing may be removed."""
    check_change(change)
    tokens = subject.eligible
    if not tokens:
        return None
    sizes = sizes_of(len(tokens), steps)
    (answer,) = yield [subject.whole]
    if len(tokens) <= EXACT:
        lowest, highest = yield from every_order(subject, change, sizes)
    else:
        lowest, highest = yield from searched(subject, change, sizes, width)
    whole = probability(answer)
    return Limits(whole - highest / len(sizes), whole - lowest / len(sizes))


def every_order(
    subject: Subject, change: str, sizes: Sequence[int]
) -> Generator[Sequence[Probe], Sequence[Outcome], tuple[float, float]]:
    """The least and the greatest sum of probabilities at these sizes over all orders.

    The best way to a set is that to the best set with one token less: 2ⁿ sets instead of n! orders.
    """
    tokens = subject.eligible
    sets: list[Gone] = [c for size in range(len(tokens) + 1) for c in combinations(tokens, size)]
    answers = yield [subject.without(gone, change) for gone in sets]
    lowest: dict[Gone, float] = {}
    highest: dict[Gone, float] = {}
    for gone, answer in zip(sets, answers, strict=True):
        own = probability(answer) if len(gone) in sizes else 0.0
        before = [gone[:n] + gone[n + 1 :] for n in range(len(gone))]
        lowest[gone] = own + min((lowest[each] for each in before), default=0.0)
        highest[gone] = own + max((highest[each] for each in before), default=0.0)
    return lowest[sets[-1]], highest[sets[-1]]


# -------------------------------------------------------------------------------- beam search


@dataclass(frozen=True, eq=False)
class Way:
    """A set of removed tokens, the sum of probabilities on the way to it, and what each further token did.

    All values have the sign of the search: the less, the better. known: the value of the text without one token
    more, as it was when that was last tried on this way.
    """

    gone: Gone
    total: float
    known: dict[int, float]

    def tried(self, count: int) -> list[int]:
        """The tokens to try next: those that did most when they were last tried."""
        return sorted(self.known, key=lambda token: (self.known[token], token))[:count]


def searched(
    subject: Subject, change: str, sizes: Sequence[int], width: int
) -> Generator[Sequence[Probe], Sequence[Outcome], tuple[float, float]]:
    """The least and the greatest sum of probabilities at these sizes that beam searches find.

    On every way each of the tokens that did most so far is removed alone. A step of m tokens takes the m − 1
    best of them and one of the next `width`. Of all sets so made, the `width` with the best sums are kept. Both
    searches put their questions together.
    """
    start = dict.fromkeys(subject.eligible, 0.0)
    beams = {sign: [Way((), 0.0, start)] for sign in (1, -1)}
    for before, after in pairwise([0, *sizes]):
        step = after - before
        count = max(TRIED, step + width) if before else len(start)
        tries = {(way.gone, t) for beam in beams.values() for way in beam for t in way.tried(count)}
        alone = yield from asked(subject, change, {with_tokens(gone, [t]) for gone, t in tries})
        beams = {
            sign: [learned(way, sign, count, alone) for way in beam] for sign, beam in beams.items()
        }
        made = {sign: [*grown(beam, step, width)] for sign, beam in beams.items()}
        if step > 1:
            together = {gone for pairs in made.values() for gone, _ in pairs}
            alone = yield from asked(subject, change, together)
        beams = {sign: best(made[sign], sign, alone, width) for sign in beams}
    return beams[1][0].total, -beams[-1][0].total


def asked(
    subject: Subject, change: str, sets: set[Gone]
) -> Generator[Sequence[Probe], Sequence[Outcome], dict[Gone, float]]:
    """The probability of the target without each set of tokens."""
    ordered = sorted(sets)
    answers = yield [subject.without(gone, change) for gone in ordered]
    return dict(zip(ordered, map(probability, answers), strict=True))


def with_tokens(gone: Gone, tokens: Sequence[int]) -> Gone:
    """A set with further tokens."""
    return tuple(sorted((*gone, *tokens)))


def learned(way: Way, sign: int, count: int, alone: dict[Gone, float]) -> Way:
    """A way that knows what was tried on it."""
    found = {token: sign * alone[with_tokens(way.gone, [token])] for token in way.tried(count)}
    return replace(way, known={**way.known, **found})


def grown(beam: Sequence[Way], step: int, width: int) -> Iterator[tuple[Gone, Way]]:
    """The sets after a step, each with the way that it continues."""
    for way in beam:
        ranked = way.tried(step - 1 + width)
        for last in ranked[step - 1 :]:
            yield with_tokens(way.gone, [*ranked[: step - 1], last]), way


def best(
    pairs: Sequence[tuple[Gone, Way]], sign: int, alone: dict[Gone, float], width: int
) -> list[Way]:
    """The ways with the least sums, of those to the same set only the best."""
    found: dict[Gone, Way] = {}
    for gone, way in pairs:
        total = way.total + sign * alone[gone]
        if gone not in found or total < found[gone].total:
            known = {token: value for token, value in way.known.items() if token not in gone}
            found[gone] = Way(gone, total, known)
    return sorted(found.values(), key=lambda way: (way.total, way.gone))[:width]


# ------------------------------------------------------------------------------------ metrics


def placed(
    case: Case, limits: Limits | None, order: list[int], change: str, steps: int
) -> Measuring:
    """Where the AOPC of an order lies between the limits."""
    if limits is None:
        return passed_over(NOTHING_TO_REMOVE)
    if limits.greatest - limits.least < NARROW:
        return passed_over("the order of removal does not matter here")
    sizes = sizes_of(len(order), steps)
    shorter = [case.subject.without(order[:size], change) for size in sizes]
    whole, *left = map(probability, (yield [case.subject.whole, *shorter]))
    return {"": Measure(limits.placed(whole - float(np.mean(left))))}


@METRICS.register(
    "naopc",
    group="faithfulness",
    needs={"probability"},
    better="higher",
    paper="Edin et al. (2025)",
    takes="up to 31; once for all methods 2ⁿ up to 8 tokens, else up to 32 · n · width",
    shared=limits_of,
)
def naopc(
    case: Case,
    limits: Limits | None,
    *,
    change: str = "delete",
    width: Count = WIDTH,  # noqa: ARG001  # the limits were searched for with it
    steps: Count = STEPS,
) -> Measuring:
    """Where the fall of the probability lies between those of the worst and the best order of removal.

    (AOPC − L) / (U − L): 0 for the worst order, 1 for the best. AOPC is the mean of p(x) − p(x without the
    first k tokens) over k = 1 … n, or in longer texts over at most 30 equal steps. L and U are the least
    and the greatest AOPC over all orders of up to 8 tokens; of more tokens those that a beam search of this
    width finds, so that a value can be a little below 0 or above 1. They are the same for all methods. A text
    in which U − L is below 0.0001 is passed over.
    """
    return (yield from placed(case, limits, case.ranked(), change, steps))


@METRICS.register(
    "naopc_sufficiency",
    group="faithfulness",
    needs={"probability"},
    better="higher",
    paper="Edin et al. (2025)",
    takes="as `naopc`, whose limits it shares",
    shared=limits_of,
)
def naopc_sufficiency(
    case: Case,
    limits: Limits | None,
    *,
    change: str = "delete",
    width: Count = WIDTH,  # noqa: ARG001  # the limits were searched for with it
    steps: Count = STEPS,
) -> Measuring:
    """How little the probability falls when the lowest scores are removed first, between the same limits.

    1 − (AOPC − L) / (U − L), with the AOPC of the reverse order: 1 if the lowest scores matter least.
    """
    found: Measures = yield from placed(case, limits, case.ranked()[::-1], change, steps)
    return {part: replace(each, value=1 - each.value) for part, each in found.items()}
