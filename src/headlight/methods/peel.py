"""Conditional relevance: what matters next, once what mattered most is gone.

Relevance at the whole text cannot see that two words say the same: both look necessary, or neither. Asked again
on the text without the first of them, the second gets what it deserves. The result is an order of removal.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor
from typing import Annotated, Literal

import numpy as np
import torch
from numpy.typing import NDArray

from headlight.batch import Row
from headlight.errors import InvalidOption, UnstableModel
from headlight.methods.registry import METHODS
from headlight.models.model import POOLED
from headlight.probing.probe import subject_of
from headlight.registry.entries import Entry
from headlight.registry.options import BY_MODEL, Bounds, Share
from headlight.trace.again import Changed, again
from headlight.trace.trace import Noted, Trace

Cut = Annotated[float, Bounds(0, 1, is_above=True)]
Change = Literal["delete", "mask", "pad", "hide"]
Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Peeled:
    """One row of a trace, and how far it is peeled.

    units: the tokens of each unit that may be removed. first: the relevance of units in the whole text.
    current: the mixed relevance, as shares of its magnitudes; that of removed units is what they were removed
    with. order: the removed units, first to last. values: what is `measured` on the whole text and after each
    removal. counts: how many units were gone then. is_done: the last removal did not lower it, so none follows.
    """

    number: int
    units: tuple[tuple[int, ...], ...]
    first: Numbers
    current: Numbers
    order: tuple[int, ...]
    values: tuple[float, ...]
    counts: tuple[int, ...] = ()
    is_done: bool = False

    @property
    def whole_order(self) -> tuple[int, ...]:
        """The removed units, then the others from the highest relevance down, equal ones as in the text."""
        left = self.left_after(self.order)
        return (*self.order, *sorted(left, key=lambda unit: -self.current[unit]))

    def left_after(self, order: Sequence[int]) -> list[int]:
        """The units that are not among these."""
        return sorted(set(range(len(self.units))) - set(order))

    def count_at(self, cut: float) -> int:
        """How many units are gone after a cut: its share of them, rounded half up, and at least one."""
        return max(1, floor(round(cut * len(self.units), 9) + 0.5))

    def goes_on(self, cut: float) -> bool:
        """Whether a cut removes a unit and leaves two or more to be ordered."""
        count = self.count_at(cut)
        return not self.is_done and len(self.order) < count <= len(self.units) - 2

    def after(self, cut: float, fresh: Numbers, value: float, mix: float) -> "Peeled":
        """The row after a cut: units that are left have the relevance of the shorter text mixed into theirs."""
        order = self.whole_order[: self.count_at(cut)]
        values, counts = (*self.values, value), (*self.counts, len(order))
        if value >= self.values[-1]:
            return replace(self, values=values, counts=counts, is_done=True)
        left = self.left_after(order)
        current = self.current.copy()
        current[left] = mix * shares(fresh[left]) + (1 - mix) * current[left]
        return replace(self, current=current, order=order, values=values, counts=counts)

    def scores(self, whole: Numbers) -> Numbers:
        """The relevance of the whole text, dealt out anew: its largest value to the first unit, and so on."""
        scores = whole.copy()
        for unit, value in zip(self.whole_order, -np.sort(-self.first), strict=True):
            scores[list(self.units[unit])] = value / len(self.units[unit])
        return scores

    def note(self, number: str) -> str:
        """What was measured on the way; number: what it is called."""
        if not self.counts:
            return "an order of removal, not amounts: too short to be peeled, so it is the order of the base"
        start, *rest = self.values
        steps = [
            f"to {value:.4g} without the first {count}"
            for value, count in zip(rest, self.counts, strict=True)
        ]
        stop = "; there the base's order was kept, because that is no fall" if self.is_done else ""
        return (
            f"an order of removal, not amounts: of {len(self.units)} that can be removed, the {number} goes "
            f"from {start:.4g} {', '.join(steps)}{stop}"
        )


@METHODS.register(
    "peel",
    group="relevance",
    needs={"again"},
    signed=True,
    is_order=True,
    aliases=("conditional_relevance",),
    paper="headlight (decision 26)",
)
def peel(
    trace: Trace,
    *,
    base: Entry = BY_MODEL,
    cuts: Sequence[Cut] = (0.2, 0.5),
    mix: Share = 0.5,
    change: Change = "delete",
    units: Literal["tokens", "words"] = "tokens",
) -> Noted:
    """An order of removal: a one-pass relevance, asked again after its own highest tokens were removed.

    R⁰ = base(text); c⁰ = R⁰/‖R⁰‖₁. At each of the `cuts` (shares of the text) the highest tokens by cʲ are
    removed, and on what is left cʲ⁺¹ = mix · Rʲ⁺¹/‖Rʲ⁺¹‖₁ + (1 − mix) · cʲ. Tokens removed earlier come first;
    the others follow by their last c. If a removal does not lower the target's probability, peeling ends there.
    Only this order is claimed: its k-th token gets the k-th largest value of R⁰, so a single score, or a sum of
    some, says nothing more. A note gives what was measured after each removal. By default about five plain
    passes: three forth and back, on the whole text, 80 % and 50 % of it.
    change: how tokens are removed (as in metrics). units='words': whole words are removed, and their pieces
    share a score.
    """
    whole = relevance(base, trace)
    rows = [
        peeling(removable(trace, number, units), number, scores, value)
        for number, (scores, value) in enumerate(zip(whole, measured(trace), strict=True))
    ]
    for cut in sorted(set(cuts)):
        due = [row for row in rows if row.goes_on(cut)]
        if not due:
            continue
        changed = [without(trace, row, cut, change) for row in due]
        shorter = again(trace, changed, base.needs)
        found, values = relevance(base, shorter), measured(shorter)
        for row, each, scores, value in zip(due, changed, found, values, strict=True):
            fresh = np.zeros(len(whole[row.number]))
            fresh[list(each.places)] = scores[: len(each.places)]
            rows[row.number] = row.after(cut, by_unit(row.units, fresh), value, mix)
    dealt = np.stack([row.scores(whole[row.number]) for row in rows])
    number = "log-probability" if trace.goal.has_probability else "value"
    notes = tuple(row.note(number) for row in rows)
    return Noted(torch.tensor(dealt).to(trace.embeddings), notes)


def relevance(base: Entry, trace: Trace) -> Numbers:
    """The scores of the base [row, token] in 64 bits; refused if they are not finite."""
    answer = base.computing(trace, **base.settled)
    found = answer.scores if isinstance(answer, Noted) else answer
    scores: Numbers = found.detach().double().cpu().numpy()
    if not np.isfinite(scores).all():
        raise UnstableModel(
            f"'{base.name}', the base of 'peel', gives NaN or infinite scores on {trace.forward.model.name}. "
            "Load the model with dtype=torch.float32, or choose another base."
        )
    return scores


def measured(trace: Trace) -> list[float]:
    """What a removal should lower: the target's log-probability, or the value of a regression.

    A logit by itself is no measure: in a language model those of all tokens rise and fall together.
    """
    goal, logits = trace.goal, trace.logits.double()
    values: list[float] = goal.value(logits, trace.inputs.present, "log_probability").tolist()
    return values


def shares(values: Numbers) -> Numbers:
    """Values divided by the sum of their magnitudes."""
    return values / (np.abs(values).sum() or 1.0)


def by_unit(units: Sequence[Sequence[int]], scores: Numbers) -> Numbers:
    """The scores of tokens, added up by unit."""
    return np.array([scores[list(unit)].sum() for unit in units])


def peeling(
    units: tuple[tuple[int, ...], ...], number: int, scores: Numbers, value: float
) -> Peeled:
    """A row before anything is removed."""
    first = by_unit(units, scores)
    return Peeled(number, units, first, shares(first), (), (value,))


def removable(trace: Trace, number: int, units: str) -> tuple[tuple[int, ...], ...]:
    """The tokens of each unit that may be removed: none of it is special, or where the target is read."""
    kept = set(range(len(trace.rows[number]))) - set(
        trace.ordinary[number].nonzero()[:, 0].tolist()
    )
    if trace.forward.model.task not in POOLED:
        goal = trace.goal
        terms = zip(goal.positions[number].tolist(), goal.signs[number].tolist(), strict=True)
        kept |= {place for place, sign in terms if sign}
    groups: dict[tuple[str, int], list[int]] = {}
    for place, unit in enumerate(unit_names(trace.rows[number], units)):
        if unit is None:
            kept.add(place)
        else:
            groups.setdefault(unit, []).append(place)
    return tuple(tuple(group) for group in groups.values() if kept.isdisjoint(group))


def unit_names(row: Row, units: str) -> list[tuple[str, int] | None]:
    """The unit of each token of a row: those of the call if it asked for some, else words or tokens.

    A token that is in no word is a unit of its own; one that is in no unit of the call is never removed.
    """
    if row.units is not None:
        return [None if number is None else ("unit", number) for number in row.units]
    if units == "tokens":
        return [("token", place) for place in range(len(row))]
    if row.word_ids is None:
        raise InvalidOption(
            "units='words' is not possible for token ids, which have no words. Give texts, or units='tokens'."
        )
    return [
        ("token", place) if word is None else ("word", word)
        for place, word in enumerate(row.word_ids)
    ]


def without(trace: Trace, row: Peeled, cut: float, change: Change) -> Changed:
    """A row without the units that a cut removes, and without what comes after the target is read."""
    own = trace.rows[row.number]
    gone = {place for unit in row.whole_order[: row.count_at(cut)] for place in row.units[unit]}
    reached = trace.inputs.present[row.number].nonzero()[:, 0].tolist()
    if change == "delete":
        reached = [place for place in reached if place not in gone]
    else:
        subject = subject_of(trace.forward.model, own, (), ())
        ids, attended = subject.replaced(gone, change)
        own = replace(own, ids=ids, attended=attended)
    return Changed(row.number, own.take(reached), tuple(reached))
