"""`Settings`: what a run is about."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

Options = Mapping[str, Any]
"""Options of a method or a metric by name; what each takes, the registry knows."""


@dataclass(frozen=True)
class Settings:
    """What a folder of results is about; a folder holds one of these.

    explain: 'predicted' or 'gold', the class whose scores are measured. rivals: other models whose scores
    are compared with these. sanity: how many of the first examples are randomised, timed and have their
    relevance summed. shard: examples per job. threads: of every job, because sums depend on it in the last bit.
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
    options: Options = field(default_factory=dict)
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
