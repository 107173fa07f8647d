"""Attributions as a table with one row per token: CSV, TSV and Parquet, for pandas and other programs."""

import csv
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from headlight.attribution import Attribution
from headlight.errors import missing_extra
from headlight.renderers.registry import RENDERERS

COLUMNS = {
    "input": "int64",
    "method": "string",
    "position": "int64",
    "token": "string",
    "score": "float64",
    "is_special": "bool",
    "is_sink": "bool",
    "word": "int64",
    "segment": "int64",
    "start": "int64",
    "end": "int64",
    "label": "string",
    "predicted": "string",
    "logit": "float64",
    "probability": "float64",
    "model": "string",
    "notes": "string",
}
"""The columns in order, with their types in Parquet."""


def rows(attributions: Sequence[Attribution]) -> Iterator[dict[str, Any]]:
    """One row per token; the n-th attribution of a method belongs to input n."""
    seen: Counter[str] = Counter()
    for each in attributions:
        nothing = (None,) * len(each)
        spans = each.offsets or ((None, None),) * len(each)
        for position, token in enumerate(each.tokens):
            start, end = spans[position]
            yield {
                "input": seen[each.method],
                "method": each.method,
                "position": position,
                "token": token,
                "score": float(each.scores[position]),
                "is_special": each.is_special[position],
                "is_sink": each.is_sink[position],
                "word": (each.word_ids or nothing)[position],
                "segment": (each.segments or nothing)[position],
                "start": start,
                "end": end,
                "label": each.target.label,
                "predicted": each.target.predicted,
                "logit": each.target.logit,
                "probability": each.target.probability,
                "model": each.model,
                "notes": "; ".join(each.notes),
            }
        seen[each.method] += 1


@RENDERERS.register("csv")
def as_csv(attributions: Sequence[Attribution]) -> str:
    """Comma-separated values with a header and one row per token."""
    return separated(COLUMNS, rows(attributions), ",")


@RENDERERS.register("tsv")
def as_tsv(attributions: Sequence[Attribution]) -> str:
    """Tab-separated values with a header and one row per token."""
    return separated(COLUMNS, rows(attributions), "\t")


def as_parquet(attributions: Sequence[Attribution]) -> bytes:
    """The same table as a Parquet file."""
    return in_parquet(COLUMNS, rows(attributions))


def separated(columns: Mapping[str, str], lines: Iterable[Mapping[str, Any]], mark: str) -> str:
    """A header and lines whose values a comma or a tab separates."""
    written = io.StringIO()
    table = csv.DictWriter(written, list(columns), lineterminator="\n", delimiter=mark)
    table.writeheader()
    table.writerows(lines)
    return written.getvalue()


def in_parquet(columns: Mapping[str, str], lines: Iterable[Mapping[str, Any]]) -> bytes:
    """Lines as a Parquet file with these columns and types."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    except ImportError as error:
        raise missing_extra("pyarrow", "data", "writing Parquet") from error
    schema = arrow.schema([(name, arrow.type_for_alias(kind)) for name, kind in columns.items()])
    written = io.BytesIO()
    parquet.write_table(arrow.Table.from_pylist(list(lines), schema), written)
    return written.getvalue()
