"""`Settings`: what a run is about; `Job`: one piece of it. A plan is a pure list of jobs."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

from headlight.errors import unknown_name
from headlight.methods import METHODS
from headlight.metrics.case import METRICS, metric_of
from headlight.registry.entries import Entry

ROLES = {
    "runner_up": "runner_up",
    "rivals": "rival",
    "randomised": "randomised",
    "ledger": "ledger",
}
"""Which further scores a metric's need stands for."""


@dataclass(frozen=True)
class Settings:
    """What a folder of results is about; a folder holds one of these.

    explain: 'predicted' or 'gold', the class whose scores are measured. rivals: other models whose scores are
    held against these. sanity: how many of the first examples are randomised, timed and have their relevance
    summed. shard: examples a job. threads: of every job, because sums depend on it in the last bit.
    """

    model: str
    fingerprint: str
    data: str
    data_hash: str
    count: int
    labels: tuple[str, ...] = ()
    limit: int | None = None
    seed: int = 0
    explain: Literal["predicted", "gold"] = "predicted"
    variant: str = "paper"
    rivals: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    sanity: int = 32
    shard: int = 64
    threads: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """As JSON keeps it."""
        return dict(json.loads(json.dumps(asdict(self))))

    @cached_property
    def identity(self) -> str:
        """What parts must have in common to be of one run, in short."""
        own = [
            self.fingerprint, self.data_hash, self.explain, self.variant,
            self.rivals, self.options, self.sanity, self.shard,
        ]  # fmt: skip
        return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()[:16]


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
    metrics: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    roles: tuple[str, ...] = ()

    @cached_property
    def name(self) -> str:
        """A name that tells this job from all others of its folder."""
        content = json.dumps([self.methods, self.metrics, self.roles], sort_keys=True)
        return f"{self.kind}-{self.shard:05d}-{hashlib.sha256(content.encode()).hexdigest()[:8]}"


def metric_options(names: Sequence[str], given: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The metrics of a run with their options; NAME@PROTOCOL asks for a paper's protocol.

    given: further options by NAME or NAME@PROTOCOL.
    """
    found: dict[str, dict[str, Any]] = {}
    for asked in names:
        name, _, protocol = asked.partition("@")
        entry = METRICS[name]
        own = dict(given.get(asked, given.get(name, {})))
        if protocol:
            own["protocol"] = protocol
        own = {option: entry.checked(option, value) for option, value in own.items()}
        found[f"{entry.name}@{protocol}" if protocol else entry.name] = own
    for name in given:
        if name not in names and name not in found:
            raise unknown_name("metric of this run", name, found)
    return found


def full_name(specification: str) -> str:
    """A method as it is written down, by its own name and not an alias."""
    return METHODS.specified(specification).name


def method_of(specification: str) -> Entry:
    """The method of NAME, or of NAME:OPTION=VALUE with those options settled."""
    return METHODS.specified(specification)


def roles_of(metrics: Mapping[str, Any]) -> tuple[str, ...]:
    """The further scores that these metrics need."""
    needs = {need for name in metrics for need in metric_of(name).needs}
    return tuple(role for need, role in ROLES.items() if need in needs)


def plan(
    settings: Settings,
    methods: Sequence[str],
    metrics: Mapping[str, Mapping[str, Any]],
    known: Sequence[Mapping[str, Any]] = (),
) -> tuple[list[Job], list[dict[str, Any]]]:
    """All jobs of a folder, and its rounds: those known before, and what this call adds to them.

    A round explains by methods, in roles, and measures pairs of them and metrics. Nothing that an earlier
    round has done is done again.
    """
    asked = list(dict.fromkeys(full_name(name) for name in methods))
    rounds = [dict(each) for each in known]
    for role in ("own", *roles_of(metrics)):
        done = {m for each in rounds for m in each["methods"] if role in each["roles"]}
        fresh = [name for name in asked if name not in done]
        if fresh:
            same = [r for r in rounds[len(known) :] if r["methods"] == fresh and not r["metrics"]]
            if same:
                same[0]["roles"].append(role)
            else:
                rounds.append({"methods": fresh, "roles": [role], "metrics": {}})
    for name, options in metrics.items():
        done = {
            m for r in rounds for m in r["methods"] if r["metrics"].get(name, None) == dict(options)
        }
        fresh = [method for method in asked if method not in done]
        same = [r for r in rounds[len(known) :] if r["methods"] == fresh and r["metrics"]]
        if fresh and same:
            same[0]["metrics"][name] = dict(options)
        elif fresh:
            rounds.append({"methods": fresh, "roles": [], "metrics": {name: dict(options)}})
    return [job for each in rounds for job in jobs_of(settings, each)], rounds


def jobs_of(settings: Settings, each: Mapping[str, Any]) -> Iterator[Job]:
    """The jobs of a round, shard by shard; what is timed runs once, on the first examples."""
    methods, roles = tuple(each["methods"]), tuple(each["roles"])
    timed = {n: o for n, o in each["metrics"].items() if "clock" in metric_of(n).needs}
    apart = {"clock", "corpus"}
    measured = {n: o for n, o in each["metrics"].items() if not apart & metric_of(n).needs}
    for shard, first in enumerate(range(0, settings.count, settings.shard)):
        last = min(first + settings.shard, settings.count)
        if roles:
            yield Job("explain", shard, first, last, methods, {}, roles)
        if measured:
            yield Job("measure", shard, first, last, methods, measured)
    if timed:
        yield Job("time", 0, 0, min(settings.sanity, settings.count), methods, timed)
