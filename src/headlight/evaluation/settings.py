"""`Settings`: what a run is about."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, Literal

Options = Mapping[str, Any]
"""Options of a method or a metric, by name; the registry knows which values each takes."""


@dataclass(frozen=True)
class Settings:
    """What a run is about; a folder holds exactly one run.

    explain: 'predicted' or 'gold', the class whose scores are measured. rivals: other models whose scores
    are compared with these. sanity: how many examples, from the first on, the slow metrics use. shard: examples
    per job. threads: threads per job; stored, because the last bit of a sum depends on it. dtype: the type of
    the weights, which changes scores. The device is not a setting: a run may be resumed on another one.
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
    dtype: str = "float32"

    def to_dict(self) -> dict[str, Any]:
        """The settings as JSON stores them."""
        return dict(json.loads(json.dumps(asdict(self))))

    @cached_property
    def identity(self) -> str:
        """A short hash of the settings that all parts of one run must share."""
        shared = [
            self.fingerprint, self.data_hash, self.explain, self.variant,
            self.rivals, self.options, self.sanity, self.shard,
        ]  # fmt: skip
        if self.dtype != "float32":  # runs from before types were stored were in 32 bits
            shared.append(self.dtype)
        return hashlib.sha256(json.dumps(shared, sort_keys=True).encode()).hexdigest()[:16]
