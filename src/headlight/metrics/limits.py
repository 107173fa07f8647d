"""AOPC between its limits: the least and the greatest that any order of removal has on the same text.

The limits belong to a model, a text and a target, so they are searched for once and shared by all methods.
"""

import math
from collections.abc import Generator, Iterable, Sequence
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
WIDTH = 3
STEPS = 20

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

Beam = dict[Gone, float]
"""Sets of removed tokens, with the signed sum of probabilities on the way to each: the less, the better."""


def searched(
    subject: Subject, change: str, sizes: Sequence[int], width: int
) -> Generator[Sequence[Probe], Sequence[Outcome], tuple[float, float]]:
    """The least and the greatest sum of probabilities at these sizes that beam searches find.

    From every set of a beam each further token is removed alone. A step of m tokens takes the m − 1 best of
    them and one of the next `width`. Of all sets so made, the `width` with the best sums are kept. The searches
    for both limits put their questions together.
    """
    beams: dict[int, Beam] = {1: {(): 0.0}, -1: {(): 0.0}}
    for before, after in pairwise([0, *sizes]):
        grown = {
            sign: [(gone, token) for gone in beam for token in remaining(subject, gone)]
            for sign, beam in beams.items()
        }
        tried = dict.fromkeys(with_token(*each) for pairs in grown.values() for each in pairs)
        alone = dict(zip(tried, (yield asked(subject, change, tried)), strict=True))
        made = {
            sign: candidates(pairs, sign, alone, after - before, width)
            for sign, pairs in grown.items()
        }
        together = dict.fromkeys(gone for found in made.values() for gone in found)
        if after - before > 1:
            alone = dict(zip(together, (yield asked(subject, change, together)), strict=True))
        for sign, found in made.items():
            sums = {
                gone: min(beams[sign][origin] for origin in origins)
                + sign * probability(alone[gone])
                for gone, origins in found.items()
            }
            best = sorted(sums, key=lambda gone: (sums[gone], gone))[:width]
            beams[sign] = {gone: sums[gone] for gone in best}
    return min(beams[1].values()), -min(beams[-1].values())


def remaining(subject: Subject, gone: Gone) -> list[int]:
    """The tokens that may still be removed."""
    return [p for p in subject.eligible if p not in gone]


def with_token(gone: Gone, token: int) -> Gone:
    """A set with one more token."""
    return tuple(sorted((*gone, token)))


def asked(subject: Subject, change: str, sets: Iterable[Gone]) -> list[Probe]:
    """The text without each set of tokens."""
    return [subject.without(gone, change) for gone in sets]


def candidates(
    pairs: Sequence[tuple[Gone, int]],
    sign: int,
    alone: dict[Gone, Outcome],
    step: int,
    width: int,
) -> dict[Gone, list[Gone]]:
    """The sets after a step, each with the sets of the beam that it can be made from."""
    tokens: dict[Gone, list[int]] = {}
    for gone, token in pairs:
        tokens.setdefault(gone, []).append(token)
    found: dict[Gone, list[Gone]] = {}
    for gone, further in tokens.items():
        value = {t: sign * alone[with_token(gone, t)].log_probability for t in further}
        ranked = sorted(further, key=lambda token: (value[token], token))
        first = ranked[: step - 1]
        for last in ranked[step - 1 : step - 1 + width]:
            found.setdefault(tuple(sorted((*gone, *first, last))), []).append(gone)
    return found


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
    takes="20 or fewer; once for all methods 2ⁿ up to 8 tokens, else about 120 · n",
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

    (AOPC − L) / (U − L): 0 for the worst order, 1 for the best. AOPC is the mean of p(x) − p(x without the first
    k tokens) over k = 1 … n, or in longer texts over 20 steps or fewer, all equally large. L and U are the least
    and the greatest AOPC over all orders of up to 8 tokens; of more tokens those that a beam search of this
    width finds, so that a value can be a little below 0 or above 1. They are the same for all methods. A text in
    which U − L is below 0.0001 is passed over.
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
