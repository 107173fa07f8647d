"""Texts from files: csv, tsv, jsonl, parquet, or plain text with one text a line."""

import csv
import io
import json
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any

from headlight.errors import InvalidInput, missing_extra
from headlight.text import Text

TABLES = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet")
TEXT_COLUMNS = ("text", "sentence", "premise", "question", "question1", "sentence1")


def read_texts(
    source: str, column: str | None = None, pair_column: str | None = None
) -> list[Text]:
    """The texts of a file, or of standard input for '-'; with a second column, pairs."""
    if source == "-":
        return lines(sys.stdin.read(), "standard input")
    if Path(source).suffix.lower() in TABLES:
        return chosen(read_records(source), column, pair_column, source)
    return lines(read_text(Path(source)), source)


def read_records(source: str) -> list[dict[str, Any]]:
    """The rows of a csv, tsv, jsonl or Parquet file, by column; a tsv need not be quoted."""
    path = Path(source)
    kind = path.suffix.lower()
    if kind not in TABLES:
        raise InvalidInput(f"'{source}' has no columns. Use one of {', '.join(TABLES)}.")
    if kind == ".parquet":
        return parquet_records(existing(path))
    text = read_text(path)
    if kind in (".jsonl", ".ndjson"):
        return json_records(text, source)
    mark = "\t" if kind == ".tsv" else ","
    try:
        return table_rows(text, delimiter=mark, strict=True)
    except csv.Error as error:
        if kind == ".tsv":
            return table_rows(text, delimiter=mark, quoting=csv.QUOTE_NONE)
        raise InvalidInput(f"'{source}' is not a csv file: {error}.") from error


def table_rows(text: str, **form: Any) -> list[dict[str, Any]]:
    """The rows of a table by column; values beyond the last column are left out."""
    rows = csv.DictReader(io.StringIO(text, newline=""), **form)
    return [{name: value for name, value in row.items() if name is not None} for row in rows]


def existing(path: Path) -> Path:
    """The path, refused if there is no such file."""
    if not is_file(path):
        raise InvalidInput(f"there is no file '{path}'.")
    return path


def is_file(path: Path) -> bool:
    """Whether there is such a file; a text that is no path is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def read_text(path: Path) -> str:
    """The whole text of a file, its line ends as they are."""
    try:
        return existing(path).read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput(f"'{path}' cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"'{path}' is not UTF-8 text: {error.reason} at byte {error.start}."
        ) from error


def lines(text: str, source: str) -> list[Text]:
    """One text a line; blank lines are passed over."""
    found: list[Text] = [line for line in text.splitlines() if line.strip()]
    if not found:
        raise InvalidInput(f"{source} has no text in it: there is nothing to explain.")
    return found


def json_records(text: str, source: str) -> list[dict[str, Any]]:
    """The objects of a JSON-lines file."""
    records = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                records.append(json.loads(line))
            except ValueError as error:
                raise InvalidInput(f"line {number} of '{source}' is not JSON: {error}.") from error
            if not isinstance(records[-1], dict):
                raise InvalidInput(
                    f"line {number} of '{source}' is not a JSON object with named fields."
                )
    return records


def parquet_records(path: Path) -> list[dict[str, Any]]:
    """The rows of a Parquet file."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise missing_extra("pyarrow", "data", "reading Parquet") from error
    try:
        return list(parquet.read_table(path).to_pylist())
    except (OSError, ValueError) as error:
        raise InvalidInput(f"'{path}' is not a Parquet file: {error}.") from error


def chosen(
    records: list[dict[str, Any]], column: str | None, pair_column: str | None, source: str
) -> list[Text]:
    """The texts, or pairs of texts, in the named columns."""
    if not records:
        raise InvalidInput(f"'{source}' has no rows: there is nothing to explain.")
    present = [name for name in records[0] if name is not None]
    first = column or next((name for name in TEXT_COLUMNS if name in present), None)
    if first is None:
        raise InvalidInput(
            f"'{source}' has no column named like a text. Say which with --column: {', '.join(present)}."
        )
    values = column_of(records, first, present, source)
    if pair_column is None:
        return values
    return list(zip(values, column_of(records, pair_column, present, source), strict=True))


def column_of(
    records: Iterable[dict[str, Any]], name: str, present: list[str], source: str
) -> list[Any]:
    """One column of all rows."""
    values = []
    for number, record in enumerate(records):
        if name not in record:
            raise InvalidInput(
                f"row {number} of '{source}' has no column '{name}'. Columns: {', '.join(present)}."
            )
        values.append(record[name])
    return values
