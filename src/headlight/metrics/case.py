"""`Case`: one attribution of one example, with what a metric may know of both. `Measure`: its result."""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from headlight.errors import InvalidOption, unknown_name
from headlight.probing.probe import CHANGES, Outcome, Probe, Subject
from headlight.registry.entries import Entry, Functions
from headlight.tokens import ordinary

METRICS = Functions("metric")
Metrics = Mapping[str, Mapping[str, Any]]
"""Metrics by their names in a run, with their options."""

NEEDS = {
    "probability": "a model with probabilities",
    "gold": "labels",
    "marks": "marked tokens (a person's reasons, or tokens that are known to decide)",
    "answers": "answers",
    "sources": "questions with sources",
    "removal": "examples from which something can be removed (not one answer rather than another)",
    "corpus": "all examples at once",
    "one_reading": "a network that reads its text once (no encoder-decoder)",
    "clock": "a clock",
    "work": "a count of operations",
}
"""What a metric may need in addition to scores and probes, and how messages call it."""
ROLES = {
    "runner_up": "scores for the second best class",
    "rival": "another model (--rival)",
    "randomised": "scores of randomised networks",
    "ledger": "relevance at every block",
}
"""Further scores that a metric may compare, in the order in which they are computed."""

GROUPS = {
    "faithfulness": "Faithfulness: what happens when tokens are removed",
    "sources": "Sources of answers: what happens when sources are removed",
    "values": "Values: whether scores that are added up say what the model does",
    "sums": "Sums: whether all scores together are what they should be",
    "truth": "Known truth: tokens that are known to decide",
    "agreement": "Agreement with people",
    "stability": "Stability: other classes, models and weights",
    "words": "Words of the classes",
    "cost": "Cost",
}
"""Headings of a report, by the `group` of a metric; a group that is not here is its own heading."""
UNGROUPED = "Other metrics"


def heading_of(metric: str) -> str:
    """The heading under which a report shows a metric of a run."""
    group = metric_of(metric).group
    return GROUPS.get(group, group or UNGROUPED)


def metric_of(name: str) -> Entry:
    """The registered metric of a name in a run: NAME, NAME@PROTOCOL or NAME.PART."""
    return METRICS[name.split("@")[0].split(".")[0]]


def metric_options(names: Sequence[str], given: Metrics) -> Metrics:
    """The metrics of a run with their options.

    NAME@PROTOCOL asks for a paper's protocol, NAME@CHANGE for another way of removing tokens. given: further
    options by NAME or by the whole name.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for asked in names:
        name, _, protocol = asked.partition("@")
        entry = METRICS[name]
        own = dict(given.get(asked, given.get(name, {})))
        if protocol:
            own["change" if is_change(entry, protocol) else "protocol"] = protocol
        own = {option: entry.checked(option, value) for option, value in own.items()}
        found[f"{entry.name}@{protocol}" if protocol else entry.name] = own
    for name in given:
        if name not in names and name not in found:
            raise unknown_name("metric of this run", name, found)
    return found


def is_change(entry: Entry, word: str) -> bool:
    """Whether NAME@WORD names a way of removing tokens, and not a protocol."""
    return word in CHANGES and "change" in entry.options


def protocol_of(name: str) -> str:
    """The protocol in a metric's name in a run; '' if it names none."""
    return name.partition("@")[2].partition(".")[0]


def axes_of(name: str) -> tuple[str, str]:
    """The labels of the axes of a metric's curve: horizontal, vertical."""
    return metric_of(name).axes or ("level", name)


def requirements(entry: Entry) -> dict[str, str]:
    """What a metric needs in addition to scores and probes: name to description. Unknown names are refused."""
    descriptions = {}
    for kind, names, known in (("need", sorted(entry.needs), NEEDS), ("role", entry.roles, ROLES)):
        for name in names:
            if name not in known:
                raise unknown_name(f"{kind} for the metric '{entry.name}'", name, known)
            descriptions[name] = known[name]
    return descriptions


@dataclass(frozen=True)
class Measure:
    """The result of a metric on one example: a value, its weight in the mean, and the curve behind it.

    value: NaN where the metric does not apply; `note` says why, or what had to be done to apply it.
    """

    value: float
    weight: float = 1.0
    levels: tuple[float, ...] = ()
    curve: tuple[float, ...] = ()
    note: str = ""


ONLY_AN_ORDER = "the scores are an order, so they do not add up"

Measures = dict[str, Measure]
"""Measures by the part of the metric; '' for a metric without parts."""
Measuring = Generator[Sequence[Probe], Sequence[Outcome], Measures]
"""A metric that asks the model: it yields probes, receives their answers, and at last returns its measures."""


def passed_over(reason: str) -> Measures:
    """The result on an example to which a metric does not apply."""
    return {"": Measure(nan, note=reason)}


def check_protocol(protocol: str, *known: str) -> None:
    """Refuse a protocol that a metric does not have; all have 'corrected'."""
    if protocol not in ("corrected", *known):
        has = ", ".join(dict.fromkeys(("corrected", *known)))
        raise InvalidOption(f"protocol='{protocol}' does not exist here. Use one of {has}.")


def in_order(scores: NDArray[np.float64], ids: Sequence[int], lot: int = 0) -> list[int]:
    """The places of scores, highest first; equal scores in an order drawn by lot.

    In text order, scores that are all equal would win wherever the first words decide. The lot depends on the
    ids only, so that all methods draw the same, in whatever run.
    """
    lots = np.random.default_rng([lot, *ids]).permutation(len(scores))
    return [int(place) for place in np.lexsort((lots, -scores))]


@dataclass(frozen=True, eq=False)
class Case:
    """An attribution to be measured.

    is_order: the scores are an order and no amounts. gold: the right class. marks: which tokens a person
    marked. answers: the tokens of every right answer.
    others: further scores of the same tokens, by role: 'runner_up', 'rival:NAME', 'randomised:DEPTH', 'ledger'.
    sources: the number of the source of each token (of a choice between two answers: of its word), None for
    those in none; empty without sources. right_source: the one from which the answer comes.
    explained: the number that the scores explain.
    """

    subject: Subject
    scores: NDArray[np.float64]
    method: str
    signed: bool
    is_order: bool = False
    gold: int | None = None
    predicted: int | None = None
    marks: NDArray[np.bool_] | None = None
    answers: tuple[tuple[int, ...], ...] = ()
    others: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    sources: tuple[int | None, ...] = ()
    right_source: int | None = None
    explained: float = nan

    @property
    def ordinary(self) -> NDArray[np.bool_]:
        """Which tokens are not special."""
        return np.array(ordinary(self.subject.row.is_special))

    @cached_property
    def order(self) -> list[int]:
        """All positions, highest score first; equal scores in an order drawn by lot."""
        return in_order(self.scores, self.subject.row.ids)

    def ranked(self) -> list[int]:
        """The positions that may be removed, highest score first."""
        eligible = set(self.subject.eligible)
        return [p for p in self.order if p in eligible]

    def role(self, prefix: str) -> dict[str, NDArray[np.float64]]:
        """The further scores of a role, by the name or number after its colon."""
        return {
            name.removeprefix(prefix).removeprefix(":"): scores
            for name, scores in self.others.items()
            if name.split(":")[0] == prefix
        }
