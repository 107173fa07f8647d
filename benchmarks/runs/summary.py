"""Time and memory to summarise a made-up run: 1,000,000 examples × 30 methods × 20 metrics by default.

make FOLDER writes the parts (minutes, about 2 GB), with values drawn at random and without curves;
read FOLDER opens the run as `headlight report` does and summarises every cell.
"""

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
import pyarrow

from headlight import METHODS, Example, open_run
from headlight.evaluation.folder import Folder, data_hash, open_folder, prepare_folder
from headlight.evaluation.parts import to_part
from headlight.evaluation.plan import Job
from headlight.evaluation.settings import Settings
from headlight.evaluation.records import table

METRICS = 20


def make(path: Path, count: int, methods: int, share: tuple[int, int]) -> None:
    """Write the parts of a run; share: which of how many processes this is."""
    names = list(METHODS)[:methods]
    if not (path / "manifest.json").exists():
        examples = [Example(f"text {number}", 0) for number in range(count)]
        settings = Settings("none", "none", "made up", data_hash(examples), count)
        prepare_folder(path, settings, examples, names, {"aopc": {}})
    folder = open_folder(path)
    own, total = share
    for job in folder.jobs:
        if job.shard % total == own and not folder.part(job).exists():
            folder.write(job, to_part(explained(job) if job.kind == "explain" else measured(job)))


def explained(job: Job) -> pyarrow.Table:
    """Attributions of one token each."""
    size = job.last - job.first
    rows = size * len(job.methods)
    found = table("explain", []).schema
    columns = {name: pyarrow.nulls(rows, found.field(name).type) for name in found.names}
    columns |= {
        "example": pyarrow.array(np.repeat(np.arange(job.first, job.last, dtype=np.int32), len(job.methods))),
        "method": pyarrow.array(list(job.methods) * size),
        "role": pyarrow.array(["own"] * rows),
        "gold": pyarrow.array(np.zeros(rows, np.int32)),
        "predicted": pyarrow.array((np.arange(rows) % 3 == 0).astype(np.int32)),
    }  # fmt: skip
    return pyarrow.table(columns, schema=found)


def measured(job: Job) -> pyarrow.Table:
    """Measures with three digits, drawn at random; the parts of one metric stand for many."""
    size, methods = job.last - job.first, len(job.methods)
    rows = size * methods * METRICS
    found = table("measure", []).schema
    columns = {name: pyarrow.nulls(rows, found.field(name).type) for name in found.names}
    drawn = np.random.default_rng(job.shard).integers(0, 1000, rows) / 1000
    method = pyarrow.DictionaryArray.from_arrays(
        np.tile(np.repeat(np.arange(methods), METRICS), size), list(job.methods)
    )
    metric = pyarrow.DictionaryArray.from_arrays(
        np.tile(np.arange(METRICS), size * methods), [f"aopc.{n:02d}" for n in range(METRICS)]
    )
    columns |= {
        "example": pyarrow.array(
            np.repeat(np.arange(job.first, job.last, dtype=np.int32), methods * METRICS)
        ),
        "method": method.cast(pyarrow.string()),
        "metric": metric.cast(pyarrow.string()),
        "value": pyarrow.array(drawn),
        "weight": pyarrow.array(np.ones(rows)),
    }
    return pyarrow.table(columns, schema=found)


def read(path: Path) -> dict[str, object]:
    """Summarise every cell; seconds, and the most memory that this process had."""
    start = time.perf_counter()
    found = open_run(path)
    opened = time.perf_counter()
    cells = [found.summary(metric, method) for metric in found.metrics for method in found.methods]
    done = time.perf_counter()
    return {
        "examples": found.settings.count,
        "methods": len(found.methods),
        "metrics": len(found.metrics),
        "cells": len(cells),
        "least_count": min(cell.count for cell in cells),
        "parts_megabytes": round(size_of(path) / 1e6),
        "open_and_check_seconds": round(opened - start, 1),
        "summarise_seconds": round(done - opened, 1),
        "peak_megabytes": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
    }


def size_of(path: Path) -> int:
    """Bytes of all parts."""
    folder: Folder = open_folder(path)
    return sum(folder.part(job).stat().st_size for job in folder.jobs)


def main() -> None:
    """Make a run or read it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("action", choices=("make", "read"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--methods", type=int, default=30)
    parser.add_argument("--share", type=int, nargs=2, default=(0, 1), metavar=("OWN", "TOTAL"))
    given = parser.parse_args()
    if given.action == "make":
        make(given.folder, given.count, given.methods, tuple(given.share))
    else:
        print(json.dumps(read(given.folder), indent=1))


if __name__ == "__main__":
    main()
