"""Measuring a shard: attributions become cases, metrics become records; and what methods cost."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np

from headlight.batch import Row
from headlight.data.example import Example
from headlight.evaluation.attribute import plan_of
from headlight.evaluation.predictions import judge
from headlight.evaluation.records import Record
from headlight.evaluation.settings import Job, Settings, method_of
from headlight.explaining.batches import run
from headlight.explaining.inputs import fitted, rows_of
from headlight.metrics.case import METRICS, Case, Measures
from headlight.metrics.measuring import measure
from headlight.models.model import Model
from headlight.probing.ask import ask
from headlight.probing.probe import Subject, subject_of


def measure_shard(
    job: Job, model: Model, examples: Mapping[int, Example], attributions: Sequence[Record]
) -> list[Record]:
    """Every metric of the job on every attribution of its methods."""
    cases = list(cases_of(job, model, examples, attributions))
    found = measure(model, [case for _, case in cases], job.metrics)
    return [
        record
        for (number, case), by_metric in zip(cases, found, strict=True)
        for name, measures in by_metric.items()
        for record in measure_records(number, case.method, name, measures)
    ]


def measure_records(number: int, method: str, name: str, measures: Measures) -> Iterator[Record]:
    """Rows of the table of measures."""
    for part, found in measures.items():
        metric = name if not part else f"{name}.{part}"
        yield {
            "example": number,
            "method": method,
            "metric": metric,
            "value": None if math.isnan(found.value) else found.value,
            "weight": found.weight,
            "levels": list(found.levels),
            "curve": list(found.curve),
            "note": found.note or None,
        }


def cases_of(
    job: Job, model: Model, examples: Mapping[int, Example], attributions: Sequence[Record]
) -> Iterator[tuple[int, Case]]:
    """The cases of a shard with their example's number."""
    others: dict[tuple[int, str], dict[str, np.ndarray]] = {}
    for record in attributions:
        if record["role"] not in ("own", "failed"):
            key = (record["example"], record["method"])
            others.setdefault(key, {})[record["role"]] = np.array(record["scores"])
    subjects: dict[int, tuple[Subject, np.ndarray | None, tuple[tuple[int, ...], ...]]] = {}
    for record in attributions:
        number, method = record["example"], record["method"]
        if record["role"] != "own" or method not in job.methods:
            continue
        if number not in subjects:
            row = fitted(model, rows_of(model, examples[number].text)[0])
            known = answers_in(row, examples[number].answers)
            subjects[number] = (
                subject_of(model, row, record["positions"], record["classes"]),
                marks_in(row, examples[number]),
                known,
            )
        subject, marks, answers = subjects[number]
        yield (
            number,
            Case(
                subject=subject,
                scores=np.array(record["scores"], np.float64),
                method=method,
                signed=method_of(method).signed,
                gold=record["gold"],
                predicted=record["predicted"],
                marks=marks,
                answers=answers,
                others=others.get((number, method), {}),
            ),
        )


def covered(row: Row, segment: int, start: int, end: int) -> list[int]:
    """The tokens that share a character with a span of a text."""
    if row.offsets is None or row.segments is None:
        return []
    return [
        p
        for p, (first, after) in enumerate(row.offsets)
        if row.segments[p] == segment and first < end and start < after
    ]


def marks_in(row: Row, example: Example) -> np.ndarray | None:
    """Which tokens a person marked."""
    if example.marks is None:
        return None
    found = np.zeros(len(row), bool)
    for mark in example.marks:
        found[covered(row, *mark)] = True
    return found


def answers_in(row: Row, answers: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The tokens of the answers that stand in the context as it was read."""
    segment = len(row.texts) - 1
    found = []
    for answer in answers:
        start = row.texts[segment].find(answer)
        tokens = covered(row, segment, start, start + len(answer)) if start >= 0 and answer else []
        if tokens:
            found.append(tuple(tokens))
    return tuple(found)


# ---------------------------------------------------------------------------------------- time


def time_shard(
    job: Job, settings: Settings, model: Model, examples: Mapping[int, Example]
) -> list[Record]:
    """Seconds of every method on single examples, beside a plain pass; both are measured in turn."""
    verdicts = judge(model, settings, examples, lambda *_: None)
    found: list[Record] = []
    (name,) = job.metrics
    for method in job.methods:
        plan = plan_of(model, [method], settings, 1)
        for each in verdicts[:1]:
            run(model, [each.row], [each.target], plan)
        for each in verdicts:
            whole = subject_of(model, each.row, each.positions, each.classes).whole
            plain = median(clocked(ask, model, [whole]) for _ in range(3))
            seconds = clocked(run, model, [each.row], [each.target], plan)
            measures = METRICS["runtime"].function(seconds, plain)
            found += measure_records(each.number, method, name, measures)
    return found


def clocked(do: Callable[..., Any], *args: Any) -> float:
    """Seconds that something takes."""
    start = time.perf_counter()
    do(*args)
    return time.perf_counter() - start
