"""Texts from files: csv, tsv, jsonl, Parquet, or plain text with one text per line."""

import io
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from headlight.errors import InvalidInput
from headlight.files.opening import decoded, lines_of
from headlight.files.skipped import Say, Skipped, say
from headlight.files.tables import TABLES, Table, open_table, without_last_blanks
from headlight.text import Text, is_blank

TEXT_COLUMNS = ("text", "sentence", "premise", "question", "question1", "sentence1")
EMPTY = "no text"
"""What is wrong with a row that is skipped."""
NO_LINES = {
    ".json": "is JSON. Write one object per line, as `jq -c '.[]'` does, and name it .jsonl",
    ".conllu": "holds parses, not texts",
    ".html": "is a web page. Save its text as .txt",
    ".xml": "is XML. Save its texts as .csv or .jsonl",
}
"""Files whose lines are not texts, and what to do with them."""


def read_texts(
    source: str,
    column: str | None = None,
    pair_column: str | None = None,
    *,
    strict: bool = False,
    tell: Say = say,
) -> list[Text]:
    """The texts of a file, or of standard input for '-'; with a second column, pairs.

    A row or line without a text is skipped, and `tell` is called with a note that names it; with `strict` it
    is refused.
    """
    path = Path(source)
    name = "standard input" if source == "-" else source
    skipped = Skipped(name, strict)
    if source != "-" and path.suffix.lower() in (*TABLES, ".xlsx", ".xls"):
        table = open_table(path)
        for note in table.notes:
            tell(note)
        rows = column_texts(table, column, pair_column, source)
    elif path.suffix.lower() in NO_LINES:
        raise InvalidInput(f"'{source}' {NO_LINES[path.suffix.lower()]}.")
    else:
        rows = line_texts(standard_input() if source == "-" else lines_of(path))
    texts = list(kept(rows, skipped))
    if not texts:
        raise InvalidInput(f"'{name}' has no text in it: there is nothing to explain.")
    for note in skipped.notes():
        tell(note)
    return texts


def kept(rows: Iterator[tuple[str, Text]], skipped: Skipped) -> Iterator[Text]:
    """The texts that are not blank."""
    for place, text in rows:
        if is_blank(text):
            skipped.skip(place, EMPTY)
        else:
            skipped.read += 1
            yield text


def standard_input() -> Iterator[str]:
    """The lines of standard input, decoded like those of a file."""
    buffer = getattr(
        sys.stdin, "buffer", None
    )  # missing where sys.stdin was replaced by a text stream
    content = sys.stdin.read().encode() if buffer is None else buffer.read()
    return decoded(lambda: io.BytesIO(content), "standard input")


def line_texts(lines: Iterator[str]) -> Iterator[tuple[str, str]]:
    """The texts of a file with one text per line."""
    texts = ((number, line.rstrip("\r\n")) for number, line in enumerate(lines, 1))
    for number, text in without_last_blanks((n, text if text.strip() else "") for n, text in texts):
        yield f"line {number}", text


def column_texts(
    table: Table, column: str | None, pair_column: str | None, source: str
) -> Iterator[tuple[str, Text]]:
    """The texts, or pairs of texts, in the named columns."""
    first = column or next((name for name in TEXT_COLUMNS if name in table.columns), None)
    if not table.columns:
        raise InvalidInput(f"'{source}' has no rows: there is nothing to explain.")
    if first is None:
        raise InvalidInput(
            f"'{source}' has no column named like a text. Say which with --column: "
            f"{listed(table.columns)}."
        )
    names = [first] if pair_column is None else [first, pair_column]
    for name in names:
        if name not in table.columns:
            raise InvalidInput(
                f"'{source}' has no column '{name}'. Columns: {listed(table.columns)}."
            )
    for place, record in table.rows(names):
        try:
            texts = [text_in(record, name) for name in names]
        except InvalidInput as error:
            raise InvalidInput(f"{place} of '{source}' {error}") from error
        yield place, (texts[0], texts[1]) if len(texts) == 2 else texts[0]


def listed(columns: Sequence[str]) -> str:
    """The names of columns, with a hint if one name looks like a whole row."""
    names = ", ".join(columns[:40]) + (" …" if len(columns) > 40 else "")
    if len(columns) == 1 and any(mark in names for mark in ",;|\t"):
        return f"{names} (that is one column: is its separator the one its suffix promises?)"
    return names


def text_in(record: dict[str, Any], name: str) -> str:
    """The text in a column of a row, '' if there is none; anything but text is refused."""
    if name not in record:
        raise InvalidInput(f"has no column '{name}'. Columns: {', '.join(record)}.")
    value = record[name]
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if not isinstance(value, str):
        raise InvalidInput(
            f"has {type(value).__name__} {str(value)[:40]} in its column '{name}', not a text."
        )
    if not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InvalidInput(f"has half a character (a lone surrogate) in its column '{name}'.")
    return value
