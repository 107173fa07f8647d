"""`Round`: methods and metrics that one call added; `Job`: one piece of a run. Planning runs nothing."""

import hashlib
import json
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, Literal

from headlight.evaluation.settings import Settings
from headlight.explaining.ablated import entry_of
from headlight.metrics.case import ROLES, Metrics, metric_of


@dataclass(frozen=True)
class Round:
    """Methods, the roles in which they explain, and the metrics that measure them.

    A call that adds to a run makes new rounds, so that nothing is computed twice.
    """

    methods: tuple[str, ...]
    roles: tuple[str, ...] = ()
    metrics: Metrics = field(default_factory=dict)

    @property
    def explained(self) -> set[tuple[str, Hashable]]:
        """The (method, role) pairs that this round computes."""
        return set(product(self.methods, self.roles))

    @property
    def measured(self) -> set[tuple[str, Hashable]]:
        """The (method, metric with options) pairs that this round computes."""
        return set(product(self.methods, map(hashable, self.metrics.items())))


@dataclass(frozen=True)
class Job:
    """One shard of examples: to be explained by methods, measured by metrics, or timed.

    metrics: by name in the run, with their options. roles: further scores that the metrics need.
    """

    kind: Literal["explain", "measure", "time"]
    shard: int
    first: int
    last: int
    methods: tuple[str, ...]
    metrics: Metrics = field(default_factory=dict)
    roles: tuple[str, ...] = ()

    @cached_property
    def name(self) -> str:
        """A name that is unique in the folder of the run."""
        content = json.dumps([self.methods, self.metrics, self.roles], sort_keys=True)
        return f"{self.kind}-{self.shard:05d}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def full_name(specification: str) -> str:
    """A method specification with the registered name in place of an alias."""
    return entry_of(specification).name


def roles_of(metrics: Iterable[str]) -> tuple[str, ...]:
    """The further scores that these metrics need."""
    needed = {role for name in metrics for role in metric_of(name).roles}
    return tuple(role for role in ROLES if role in needed)


def plan(
    methods: Iterable[str],
    metrics: Metrics,
    known: Sequence[Round] = (),
    given: Iterable[str] = (),
) -> tuple[Round, ...]:
    """The known rounds of a run, then new ones for what is asked for but not in them.

    given: names of scores that are given to the run; metrics that need more than scores do not measure them.
    """
    rounds = with_rounds(list(dict.fromkeys(map(full_name, methods))), metrics, known)
    return with_rounds(list(given), scored(metrics), rounds)


def scored(metrics: Metrics) -> Metrics:
    """The metrics that need only scores: none for other classes, models or weights, and no clock."""
    return {
        name: options
        for name, options in metrics.items()
        if not metric_of(name).roles and "clock" not in metric_of(name).needs
    }


def with_rounds(
    asked: Sequence[str], metrics: Metrics, known: Sequence[Round]
) -> tuple[Round, ...]:
    """The known rounds, then new ones for what these methods lack."""
    explained = set[tuple[str, Hashable]]().union(*(each.explained for each in known))
    measured = set[tuple[str, Hashable]]().union(*(each.measured for each in known))
    roles = lacking(asked, {role: role for role in ("own", *roles_of(metrics))}, explained)
    wanted = {name: hashable((name, options)) for name, options in metrics.items()}
    return (
        *known,
        *(Round(who, roles=tuple(names)) for who, names in roles.items()),
        *(
            Round(who, metrics={name: dict(metrics[name]) for name in names})
            for who, names in lacking(asked, wanted, measured).items()
        ),
    )


def lacking(
    methods: Sequence[str], wanted: Mapping[str, Hashable], done: set[tuple[str, Hashable]]
) -> dict[tuple[str, ...], list[str]]:
    """The wanted names that are not done, grouped by the methods that lack them."""
    names_by_methods: dict[tuple[str, ...], list[str]] = {}
    for name, key in wanted.items():
        who = tuple(method for method in methods if (method, key) not in done)
        if who:
            names_by_methods.setdefault(who, []).append(name)
    return names_by_methods


def hashable(value: Any) -> Hashable:
    """A JSON value that can be in a set; lists become tuples."""
    if isinstance(value, Mapping):
        return frozenset((name, hashable(each)) for name, each in value.items())
    return tuple(map(hashable, value)) if isinstance(value, list | tuple) else value


def jobs_of(settings: Settings, rounds: Iterable[Round]) -> list[Job]:
    """All jobs of a run, round by round."""
    return [job for each in rounds for job in round_jobs(settings, each)]


def round_jobs(settings: Settings, each: Round) -> Iterator[Job]:
    """The jobs of a round, shard by shard; metrics of cost run once, on the first examples."""
    cost = {"clock", "work"}
    timed = {n: o for n, o in each.metrics.items() if cost & metric_of(n).needs}
    apart = {*cost, "corpus"}
    measured = {n: o for n, o in each.metrics.items() if not apart & metric_of(n).needs}
    for shard, first in enumerate(range(0, settings.count, settings.shard)):
        last = min(first + settings.shard, settings.count)
        if each.roles:
            yield Job("explain", shard, first, last, each.methods, {}, each.roles)
        if measured:
            yield Job("measure", shard, first, last, each.methods, measured)
    if timed:
        yield Job("time", 0, 0, min(settings.sanity, settings.count), each.methods, timed)
