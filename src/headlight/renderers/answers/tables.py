"""Answers as a table with one row per part of the answer and unit of the prompt: CSV, TSV and Parquet."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from headlight.answer import Answer
from headlight.renderers.tables import in_parquet, separated

COLUMNS = {
    "input": "int64",
    "method": "string",
    "part": "int64",
    "part_text": "string",
    "unit": "int64",
    "unit_name": "string",
    "start": "int64",
    "end": "int64",
    "score": "float64",
    "through_thoughts": "float64",
    "value": "float64",
    "log_probability": "float64",
    "answer": "string",
    "model": "string",
    "notes": "string",
}
"""The columns in order, with their types in Parquet."""


def rows(answers: Sequence[Answer]) -> Iterator[dict[str, Any]]:
    """One row per part and unit; the n-th answer of a method belongs to prompt n."""
    seen: Counter[str] = Counter()
    for answer in answers:
        scores, texts = answer.matrix, answer.part_texts
        sent = answer.through_thoughts
        through = None if sent is None else answer.added_up(sent)
        for number, part in enumerate(answer.parts):
            for place, unit in enumerate(answer.units):
                yield {
                    "input": seen[answer.method],
                    "method": answer.method,
                    "part": number,
                    "part_text": texts[number],
                    "unit": place,
                    "unit_name": unit.name,
                    "start": unit.start,
                    "end": unit.end,
                    "score": float(scores[number, place]),
                    "through_thoughts": None if through is None else float(through[number, place]),
                    "value": part.value,
                    "log_probability": part.log_probability,
                    "answer": answer.answer,
                    "model": answer.model,
                    "notes": "; ".join(answer.notes),
                }
        seen[answer.method] += 1


def as_csv(answers: Sequence[Answer]) -> str:
    """Comma-separated values with a header."""
    return separated(COLUMNS, rows(answers), ",")


def as_tsv(answers: Sequence[Answer]) -> str:
    """Tab-separated values with a header."""
    return separated(COLUMNS, rows(answers), "\t")


def as_parquet(answers: Sequence[Answer]) -> bytes:
    """The same table as a Parquet file."""
    return in_parquet(COLUMNS, rows(answers))
