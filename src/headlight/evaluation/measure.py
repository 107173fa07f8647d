"""Measures a shard: makes cases of attributions and records of metrics; and finds what methods cost."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode

from headlight.data.example import Example
from headlight.data.spans import answers_in, marks_in
from headlight.errors import InvalidInput
from headlight.evaluation.attribute import plan_of
from headlight.evaluation.contrasted import contrasted_from, deciding_word, word_numbers
from headlight.evaluation.predictions import ExamplePrediction, predict_examples
from headlight.evaluation.records import AttributionRecord, MeasureRecord
from headlight.evaluation.settings import Settings
from headlight.evaluation.sourced import ablated_sources, source_numbers, written_again
from headlight.explaining.ablated import entry_of, is_ablation
from headlight.explaining.batches import run
from headlight.explaining.inputs import rows_of
from headlight.metrics.case import Case, Measures, Metrics, metric_of
from headlight.metrics.measuring import measure
from headlight.models.model import Model
from headlight.models.reading import cut_to_limit
from headlight.probing.ask import Ask, ask
from headlight.probing.probe import Subject, subject_of


def measure_shard(
    methods: Sequence[str],
    metrics: Metrics,
    model: Model,
    examples: Mapping[int, Example],
    attributions: Sequence[AttributionRecord],
    put: Ask = ask,
) -> list[MeasureRecord]:
    """Every metric on every attribution of the methods. put: puts the probes of metrics to the model."""
    cases = list(cases_of(methods, model, examples, attributions))
    found = measure(model, [case for _, case in cases], metrics, put)
    return [
        record
        for (number, case), by_metric in zip(cases, found, strict=True)
        for name, measures in by_metric.items()
        for record in measure_records(number, case.method, name, measures)
    ]


def measure_records(
    number: int, method: str, name: str, measures: Measures
) -> Iterator[MeasureRecord]:
    """Rows of the table of measures."""
    for part, found in measures.items():
        metric = name if not part else f"{name}.{part}"
        yield MeasureRecord(
            example=number,
            method=method,
            metric=metric,
            value=None if math.isnan(found.value) else found.value,
            weight=found.weight,
            levels=found.levels,
            curve=found.curve,
            note=found.note or None,
        )


@dataclass(frozen=True, eq=False)
class MeasuredExample:
    """An example as metrics see it. marks: which tokens a person marked. answers: the tokens of each answer.

    sources: the number of the source (in a contrast, of the word) of each token, None for those in none.
    right_source: the one from which the answer comes.
    """

    subject: Subject
    marks: NDArray[np.bool_] | None
    answers: tuple[tuple[int, ...], ...]
    sources: tuple[int | None, ...] = ()
    right_source: int | None = None


def cases_of(
    methods: Sequence[str],
    model: Model,
    examples: Mapping[int, Example],
    attributions: Sequence[AttributionRecord],
) -> Iterator[tuple[int, Case]]:
    """The cases of a shard, each with the number of its example."""
    others: dict[tuple[int, str], dict[str, NDArray[np.float64]]] = {}
    for record in attributions:
        if record.role not in ("own", "failed"):
            scores = np.array(record.scores, np.float64)
            others.setdefault((record.example, record.method), {})[record.role] = scores
    known: dict[int, MeasuredExample] = {}
    for record in attributions:
        if record.role != "own" or record.method not in methods:
            continue
        number = record.example
        if number not in known:
            known[number] = measured_example(model, examples[number], record)
        case = Case(
            subject=known[number].subject,
            scores=np.array(record.scores, np.float64),
            method=record.method,
            signed=is_signed(record),
            is_order=is_order(record),
            gold=record.gold,
            predicted=record.predicted,
            marks=known[number].marks,
            answers=known[number].answers,
            others=others.get((number, record.method), {}),
            sources=known[number].sources,
            right_source=known[number].right_source,
            explained=math.nan if record.logit is None else record.logit,
        )
        yield number, case


def is_signed(record: AttributionRecord) -> bool:
    """Whether scores have a sign: of methods the registry knows it, given ones say it."""
    return entry_of(record.method).signed if record.signed is None else record.signed


def is_order(record: AttributionRecord) -> bool:
    """Whether scores are an order of tokens and no amounts; given ones are taken as amounts."""
    return record.signed is None and entry_of(record.method).is_order


def measured_example(model: Model, example: Example, record: AttributionRecord) -> MeasuredExample:
    """An explained example as metrics see it.

    The text is encoded again, because words, offsets and token types are not stored. The stored ids show
    whether these are the tokens that were scored.
    """
    sources: tuple[int | None, ...] = ()
    right = example.right_source
    if example.sources:
        written = written_again(model, example, record.ids or ())
        row, sources = written.row, source_numbers(written)
    elif example.rather_than is not None:
        assert isinstance(example.text, str)
        row, right = contrasted_from(model, example).row, deciding_word(example)
        sources = word_numbers(row, example.text)
    else:
        row = cut_to_limit(model, rows_of(model, example.text)[0])
    if row.ids != tuple(record.ids or ()):
        raise InvalidInput(
            f"example {record.example} has other tokens than when it was explained. Use the tokenizer that "
            "the run started with, or start again in another folder."
        )
    subject = subject_of(model, row, record.positions or (), record.classes or ())
    return MeasuredExample(
        subject, marks_in(row, example), answers_in(row, example.answers), sources, right
    )


# ---------------------------------------------------------------------------------------- cost


def time_shard(
    methods: Sequence[str],
    metrics: Metrics,
    settings: Settings,
    model: Model,
    examples: Mapping[int, Example],
) -> list[MeasureRecord]:
    """What every method spends on single examples, and a plain pass for comparison, measured in turn."""
    predictions = predict_examples(model, settings, examples, lambda *_: None)
    found: list[MeasureRecord] = []
    for method in methods:
        explain = explaining(model, method, settings)
        # The first call of a method is slow (lazy imports, allocation), so it is not timed.
        for each in predictions[:1]:
            explain(each)
        for each in predictions:
            whole = subject_of(model, each.row, each.positions, each.classes).whole
            spent: dict[str, tuple[float, float]] = {}
            for need in sorted({need for name in metrics for need in metric_of(name).needs}):
                plain = median(METERS[need](ask, model, [whole]) for _ in range(3))
                spent[need] = (METERS[need](explain, each), plain)
            for name, options in metrics.items():
                (need,) = metric_of(name).needs
                measures = metric_of(name).function(*spent[need], **options)
                found += measure_records(each.number, method, name, measures)
    return found


def explaining(
    model: Model, method: str, settings: Settings
) -> Callable[[ExamplePrediction], object]:
    """What explains one example by a method."""
    if is_ablation(method):
        return lambda each: ablated_sources(
            model, each.example, each.row.ids, [method], settings.options
        )
    plan = plan_of(model, [method], settings, 1)
    return lambda each: run(model, [each.row], [each.target], plan)


def clocked(do: Callable[..., object], *args: object) -> float:
    """Seconds that something takes."""
    start = time.perf_counter()
    do(*args)
    return time.perf_counter() - start


def operations(do: Callable[..., object], *args: object) -> float:
    """Multiplications and additions in the products of matrices of something."""
    with FlopCounterMode(display=False) as counter:
        do(*args)
    return float(counter.get_total_flops())


METERS: Mapping[str, Callable[..., float]] = {"clock": clocked, "work": operations}
"""What tells what something costs, by the need of a metric of cost."""
