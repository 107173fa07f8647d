"""Results as Arrow tables: attributions, measures and the examples themselves."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headlight.batch import as_tuple
from headlight.data.example import Example
from headlight.errors import missing_extra

if TYPE_CHECKING:
    import pyarrow

ATTRIBUTIONS = {
    "example": "int32",
    "method": "string",
    "role": "string",
    "tokens": "list<string>",
    "ids": "list<int32>",
    "special": "list<bool>",
    "scores": "list<float32>",
    "positions": "list<int32>",
    "classes": "list<int32>",
    "label": "string",
    "predicted": "int32",
    "predicted_label": "string",
    "gold": "int32",
    "probability": "float64",
    "logit": "float64",
    "error": "string",
}
MEASURES = {
    "example": "int32",
    "method": "string",
    "metric": "string",
    "value": "float64",
    "weight": "float64",
    "levels": "list<float64>",
    "curve": "list<float64>",
    "note": "string",
}
EXAMPLES = {
    "example": "int32",
    "text": "string",
    "pair": "string",
    "label": "string",
    "answers": "list<string>",
    "marks": "list<list<int32>>",
}
COLUMNS = {"explain": ATTRIBUTIONS, "measure": MEASURES, "time": MEASURES, "examples": EXAMPLES}

Record = dict[str, Any]


def arrow() -> Any:
    """Pyarrow, or which extra brings it."""
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise missing_extra("pyarrow", "data", "evaluation") from error


def type_of(name: str) -> Any:
    """An Arrow type by its name."""
    if name.startswith("list<"):
        return arrow().list_(type_of(name.removeprefix("list<").removesuffix(">")))
    return getattr(arrow(), {"bool": "bool_"}.get(name, name))()


def table(kind: str, records: Iterable[Record]) -> "pyarrow.Table":
    """Records of a kind as a table with all its columns."""
    columns = COLUMNS[kind]
    schema = arrow().schema([(name, type_of(kind_)) for name, kind_ in columns.items()])
    rows = [{name: record.get(name) for name in columns} for record in records]
    return arrow().Table.from_pylist(rows, schema=schema)


def to_bytes(found: "pyarrow.Table") -> bytes:
    """A table as a Parquet file; equal tables give equal bytes."""
    sink = arrow().BufferOutputStream()
    import_module("pyarrow.parquet").write_table(found, sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def from_bytes(content: bytes, columns: Sequence[str] | None = None) -> "pyarrow.Table":
    """The table of a Parquet file, or some columns of it."""
    chosen = None if columns is None else list(columns)
    return import_module("pyarrow.parquet").ParquetFile(arrow().BufferReader(content)).read(chosen)


def has_columns(content: bytes, kind: str) -> bool:
    """Whether bytes are a Parquet file with the columns of that kind, and can be read."""
    try:
        return bool(from_bytes(content).schema.equals(table(kind, []).schema))
    except (OSError, ValueError, arrow().ArrowException):
        return False


def example_records(examples: Sequence[Example]) -> Iterable[Record]:
    """Examples as records."""
    for number, example in enumerate(examples):
        first, *second = as_tuple(example.text)
        yield {
            "example": number,
            "text": first,
            "pair": second[0] if second else None,
            "label": None if example.label is None else str(example.label),
            "answers": list(example.answers),
            "marks": None if example.marks is None else [list(mark) for mark in example.marks],
        }


def examples_of(found: "pyarrow.Table") -> list[Example]:
    """The examples of a table."""
    return [
        Example(
            row["text"] if row["pair"] is None else (row["text"], row["pair"]),
            row["label"],
            tuple(row["answers"] or ()),
            None if row["marks"] is None else tuple((m[0], m[1], m[2]) for m in row["marks"]),
        )
        for row in found.to_pylist()
    ]
