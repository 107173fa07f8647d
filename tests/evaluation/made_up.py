"""Runs that nobody computed, made of rows that need no model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headlight import Example
from headlight.evaluation.folder import Folder, data_hash, prepare_folder
from headlight.evaluation.parts import to_part
from headlight.evaluation.plan import Job
from headlight.evaluation.records import AttributionRecord, MeasureRecord, Record, table
from headlight.evaluation.settings import Settings

METHODS = ("attcat", "random")
METRICS = ("aopc", "log_odds")


def settings_for(examples: list[Example], shard: int) -> Settings:
    """Settings of a model that is never loaded."""
    return Settings("none", "f" * 16, "made up", data_hash(examples), len(examples), shard=shard)


def records(job: Job) -> Sequence[Record]:
    """Rows that fit a job."""
    numbers = range(job.first, job.last)
    if job.kind == "explain":
        return [
            AttributionRecord(n, m, "own", tokens=["a"], scores=[n / 7])
            for n in numbers
            for m in job.methods
        ]
    return [
        MeasureRecord(n, m, k, n / 3 + len(m))
        for n in numbers
        for m in job.methods
        for k in job.metrics
    ]


def made_up_run(path: Path, count: int = 8, shard: int = 4) -> Folder:
    """A finished run."""
    examples = [Example(f"text {n}", n % 2) for n in range(count)]
    metrics: dict[str, dict[str, Any]] = {name: {} for name in METRICS}
    folder = prepare_folder(path, settings_for(examples, shard), examples, METHODS, metrics)
    for job in folder.jobs:
        folder.write(job, to_part(table(job.kind, records(job))))
    return folder
