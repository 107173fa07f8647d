"""Results as Arrow tables: attributions, measures and the examples themselves."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

from headlight.batch import as_tuple
from headlight.data.example import Example
from headlight.errors import missing_extra

if TYPE_CHECKING:
    import pyarrow

Float32 = Annotated[float, "float32"]
"""A number that is stored in 32 bits; all others are stored in 64."""


@dataclass(frozen=True)
class AttributionRecord:
    """The scores of a method on an example, in a role. In the role 'failed', `error` says why there are none.

    positions, classes: where the explained logits are. predicted, gold: class numbers. special, sink: as in an
    `Attribution`; runs of earlier versions have no sinks. signed: of scores that were given to the run; of
    methods the registry knows it.
    """

    example: int
    method: str
    role: str
    tokens: Sequence[str] | None = None
    ids: Sequence[int] | None = None
    special: Sequence[bool] | None = None
    scores: Sequence[Float32] | None = None
    positions: Sequence[int] | None = None
    classes: Sequence[int] | None = None
    label: str | None = None
    predicted: int | None = None
    predicted_label: str | None = None
    gold: int | None = None
    probability: float | None = None
    logit: float | None = None
    error: str | None = None
    sink: Sequence[bool] | None = None
    signed: bool | None = None


@dataclass(frozen=True)
class MeasureRecord:
    """The measure of a metric for a method on an example; no value if the metric does not apply."""

    example: int
    method: str
    metric: str
    value: float | None
    weight: float = 1.0
    levels: Sequence[float] | None = None
    curve: Sequence[float] | None = None
    note: str | None = None


@dataclass(frozen=True)
class ExampleRecord:
    """An example of the data, with its number."""

    example: int
    text: str
    pair: str | None
    label: str | None
    answers: Sequence[str]
    marks: Sequence[Sequence[int]] | None
    sources: Sequence[str] | None = None
    rather_than: str | None = None


Record = AttributionRecord | MeasureRecord | ExampleRecord
KINDS: dict[str, type[Record]] = {
    "explain": AttributionRecord,
    "measure": MeasureRecord,
    "time": MeasureRecord,
    "examples": ExampleRecord,
}
"""The record type of each kind of table."""
ADDED = {"sink", "sources", "rather_than", "signed"}
"""Columns that parts of earlier versions lack, and examples that have nothing in them."""
OPTIONAL = ("sources", "rather_than")
"""Columns of examples that are left out if all of them are empty."""
NAMES = {int: "int32", float: "float64", str: "string", bool: "bool_"}
"""Arrow types of plain values."""


def arrow() -> Any:
    """The module pyarrow; the error names the extra that installs it."""
    try:
        return import_module("pyarrow")
    except ImportError as error:
        raise missing_extra("pyarrow", "data", "evaluation") from error


def arrow_type(kind: Any) -> Any:
    """The Arrow type of a field of a record; every field may be empty."""
    parts = [part for part in get_args(kind) if part is not NoneType]
    if get_origin(kind) is Annotated:
        return getattr(arrow(), parts[1])()
    if get_origin(kind) is Sequence:
        return arrow().list_(arrow_type(parts[0]))
    return arrow_type(parts[0]) if parts else getattr(arrow(), NAMES[kind])()


def schema_of(kind: str) -> "pyarrow.Schema":
    """The columns of a kind of table: the fields of its record type, in order."""
    hints = get_type_hints(KINDS[kind], include_extras=True)
    return arrow().schema([(name, arrow_type(hint)) for name, hint in hints.items()])


def table(kind: str, records: Iterable[Record]) -> "pyarrow.Table":
    """Records of a kind as a table."""
    schema, rows = schema_of(kind), [vars(record) for record in records]
    return arrow().Table.from_pylist(rows, schema=schema)


def attribution_records(found: "pyarrow.Table") -> list[AttributionRecord]:
    """The records of a table of attributions."""
    return [AttributionRecord(**row) for row in found.to_pylist()]


def concatenated(kind: str, tables: "Iterable[pyarrow.Table]") -> "pyarrow.Table":
    """Tables of a kind joined into one; an empty table if there are none."""
    return arrow().concat_tables([table(kind, []), *tables], promote_options="default")


def to_bytes(found: "pyarrow.Table") -> bytes:
    """A table as a Parquet file; equal tables give equal bytes."""
    sink = arrow().BufferOutputStream()
    import_module("pyarrow.parquet").write_table(found, sink, compression="zstd")
    return bytes(sink.getvalue().to_pybytes())


def from_bytes(content: bytes, columns: Sequence[str] | None = None) -> "pyarrow.Table":
    """The table in a Parquet file, or some of its columns."""
    chosen = None if columns is None else list(columns)
    return import_module("pyarrow.parquet").ParquetFile(arrow().BufferReader(content)).read(chosen)


def has_columns(content: bytes, kind: str) -> bool:
    """Whether bytes are a readable Parquet file with the columns of that kind, perhaps without the newest."""
    known = schema_of(kind)
    try:
        found = from_bytes(content).schema
        missing = set(known.names) - set(found.names)
        expected = arrow().schema([field for field in known if field.name not in missing])
        return bool(missing <= ADDED and found.equals(expected))
    except (OSError, ValueError, arrow().ArrowException):
        return False


def example_table(examples: Sequence[Example]) -> "pyarrow.Table":
    """Examples as a table; it has a column of sources, or of other answers, if an example has any."""
    found = table("examples", example_records(examples))
    empty = [name for name in OPTIONAL if not any(getattr(each, name) for each in examples)]
    return found.drop_columns(empty) if empty else found


def example_records(examples: Iterable[Example]) -> Iterable[ExampleRecord]:
    """Examples as records."""
    for number, example in enumerate(examples):
        first, *second = as_tuple(example.text)
        yield ExampleRecord(
            example=number,
            text=first,
            pair=second[0] if second else None,
            label=None if example.label is None else str(example.label),
            answers=example.answers,
            marks=example.marks,
            sources=example.sources,
            rather_than=example.rather_than,
        )


def examples_of(found: "pyarrow.Table") -> list[Example]:
    """The examples of a table."""
    return [
        Example(
            record.text if record.pair is None else (record.text, record.pair),
            record.label,
            tuple(record.answers or ()),
            None if record.marks is None else tuple((m[0], m[1], m[2]) for m in record.marks),
            tuple(record.sources or ()),
            record.rather_than,
        )
        for record in (ExampleRecord(**row) for row in found.to_pylist())
    ]
