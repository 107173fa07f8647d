"""`Table`: a csv, tsv, jsonl or Parquet file, its rows read one by one, each with its place in the file."""

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from headlight.errors import InvalidInput
from headlight.files.opening import EXCEL, existing, lines_of
from headlight.files.parquet import ParquetRows
from headlight.files.parquet import Record as Record
from headlight.files.parsing import parse_json

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
Fields = tuple[int, list[str]]
"""A line number as an editor counts, and the fields of the row that begins there; [] for a blank line."""
Line = TypeVar("Line", list[str], str)


@dataclass(frozen=True)
class Table:
    """A file of rows.

    columns: their names; in JSON, where each row has its own, those of the first row.
    rows: called with the wanted columns (None for all), reads the file from its start and yields the place
        and the values of each row.
    notes: what the user should know about how the file is read.
    parquet: the file, if single rows can be read without making Python objects of the others.
    """

    columns: tuple[str, ...]
    rows: Callable[[Sequence[str] | None], Iterator[tuple[str, Record]]]
    notes: tuple[str, ...] = ()
    parquet: ParquetRows | None = None


def open_table(path: Path) -> Table:
    """The table in a file, by its suffix."""
    kind = path.suffix.lower()
    if kind in (".xlsx", ".xls"):
        raise InvalidInput(f"'{existing(path)}' {EXCEL}.")
    if kind not in TABLES:
        raise InvalidInput(f"'{path}' has no columns. Use one of {', '.join(TABLES)}.")
    if kind == ".parquet":
        return parquet_table(path)
    if kind in (".jsonl", ".ndjson"):
        return json_table(path)
    return tsv_table(path) if kind == ".tsv" else csv_table(path)


def read_records(source: str) -> list[Record]:
    """All rows of a file, by column."""
    return [record for _, record in open_table(Path(source)).rows(None)]


def unique_names(names: Iterable[str], path: Path) -> tuple[str, ...]:
    """The names of columns; refused if two are equal. Columns without a name cannot be asked for."""
    columns = tuple(names)
    twice = sorted(name for name, count in Counter(columns).items() if name and count > 1)
    if twice:
        raise InvalidInput(
            f"'{path}' has more than one column '{twice[0]}'. Give each a name of its own."
        )
    return columns


# --------------------------------------------------------------------------------- csv and tsv


def csv_table(path: Path) -> Table:
    """A csv; if its first line has no comma, it is split at semicolons or tabs."""
    head = next((line for line in lines_of(path) if line.strip()), "")
    mark = next((mark for mark in ",;\t" if mark in head), ",")
    notes = (f"the columns of '{path}' are read as separated by {mark!r}.",) if mark != "," else ()
    return table_of(path, lambda: quoted_rows(path, mark), notes)


def tsv_table(path: Path) -> Table:
    """A tsv, whose quotes are read as marks around fields or as part of the texts, so that no row is lost.

    They are marks if every row then has all its fields and there are as many rows as lines, or if some
    line would otherwise lack fields.
    """
    if not any('"' in line for line in lines_of(path)):
        return table_of(path, lambda: plain_rows(path))
    plain = count_of(plain_rows(path))
    try:
        quoted = count_of(quoted_rows(path, "\t"))
    except InvalidInput:
        quoted = None
    if quoted is not None and plain in (None, quoted):
        return table_of(path, lambda: quoted_rows(path, "\t"))
    note = f"the quotes in '{path}' are read as part of its texts; as marks they would join lines."
    return table_of(path, lambda: plain_rows(path), (note,) if quoted is not None else ())


def count_of(rows: Iterable[Fields]) -> int | None:
    """How many rows there are; None if they do not all have as many fields as the first."""
    count, width = 0, 0
    for _, fields in rows:
        if fields:
            width = width or len(fields)
            if len(fields) != width:
                return None
            count += 1
    return count


def plain_rows(path: Path) -> Iterator[Fields]:
    """The lines of a tsv, split at tabs."""
    for number, line in enumerate(lines_of(path), 1):
        fields = line.rstrip("\r\n").split("\t")
        yield number, fields if any(fields) else []


def quoted_rows(path: Path, mark: str) -> Iterator[Fields]:
    """The rows of a table with quotes; a row may take several lines."""
    reader = csv.reader(lines_of(path), delimiter=mark, strict=True)
    start = 1
    while True:
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise damaged(path, start, str(error)) from error
        if fields is None:
            return
        yield start, fields
        start = reader.line_num + 1


def damaged(path: Path, number: int, error: str) -> InvalidInput:
    """The error for a row that is not valid csv."""
    repair = f"it is not csv: {error}"
    if "field larger" in error:
        repair = (
            f"it has a field of more than {csv.field_size_limit():,} characters: a quote that is never "
            "closed, or a text too long for this form. Keep such texts in a .jsonl file"
        )
    elif "unexpected end" in error:
        repair = "a quote that opens there is never closed"
    elif "expected after" in error:
        repair = 'a quote inside a quoted field must be written twice ("")'
    return InvalidInput(f"line {number} of '{path}' cannot be read: {repair}.")


def table_of(
    path: Path, read: Callable[[], Iterator[Fields]], notes: tuple[str, ...] = ()
) -> Table:
    """A table whose first row names its columns."""
    first = next((fields for _, fields in read() if fields), [])
    names = unique_names([name.strip() for name in first], path)
    columns = tuple(filter(None, names))

    def rows(_wanted: Sequence[str] | None) -> Iterator[tuple[str, Record]]:
        body = read()
        next((fields for _, fields in body if fields), None)
        for number, fields in without_last_blanks(body):
            place = f"line {number}"
            is_blank = not fields
            yield (
                place,
                empty(columns) if is_blank else named(names, fields, f"{place} of '{path}'"),
            )

    return Table(columns, rows, notes)


def without_last_blanks(rows: Iterable[tuple[int, Line]]) -> Iterator[tuple[int, Line]]:
    """Rows with their numbers; blank ones only if another row follows: the end of a file is not a row."""
    blank = 0
    for number, row in rows:
        if not row:
            blank = blank or number
            continue
        for missing in range(blank or number, number):
            yield missing, row[:0]
        blank = 0
        yield number, row


def empty(columns: Iterable[str]) -> Record:
    """A row with nothing in it."""
    return dict.fromkeys(columns)


def named(names: Sequence[str], fields: list[str], where: str) -> Record:
    """Fields by column; refused if there are more or fewer, because they may then be in the wrong columns."""
    if len(fields) < len(names) or any(fields[len(names) :]):
        raise InvalidInput(
            f"{where} has {len(fields)} fields, and there are {len(names)} columns. A text that holds the "
            "separator must be in quotes, and the first line must name every column."
        )
    return {name: value for name, value in zip(names, fields, strict=False) if name}


# ---------------------------------------------------------------------------- jsonl and Parquet


def json_table(path: Path) -> Table:
    """A JSON-lines file: one object per line."""

    def lines() -> Iterator[tuple[int, str]]:
        return ((number, line.strip()) for number, line in enumerate(lines_of(path), 1))

    start, first = next(((number, line) for number, line in lines() if line), (1, "{}"))
    columns = tuple(json_object(first, f"line {start} of '{path}'"))

    def rows(_wanted: Sequence[str] | None) -> Iterator[tuple[str, Record]]:
        for number, line in without_last_blanks(lines()):
            place = f"line {number}"
            yield place, json_object(line, f"{place} of '{path}'") if line else empty(columns)

    return Table(columns, rows)


def json_object(line: str, where: str) -> Record:
    """The object of a line."""
    hint = "Write one object per line, as `jq -c` does."
    if line in ("[", "{"):
        raise InvalidInput(f"{where} is not JSON by itself. {hint}")
    value = parse_json(line, where)
    if not isinstance(value, dict):
        raise InvalidInput(f"{where} is not a JSON object with named fields. {hint}")
    return value


def parquet_table(path: Path) -> Table:
    """A Parquet file; rows are counted from 1, and only the columns that are wanted are read."""
    file = ParquetRows(existing(path))

    def rows(wanted: Sequence[str] | None) -> Iterator[tuple[str, Record]]:
        return ((f"row {number + 1}", record) for number, record in file.rows(wanted))

    return Table(unique_names(file.columns(), path), rows, parquet=file)
