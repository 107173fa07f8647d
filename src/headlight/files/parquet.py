"""Parquet files: rows by their number, and which rows need a closer look, without making Python objects."""

from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

from headlight.errors import InvalidInput, missing_extra

Record = dict[str, Any]
BATCH = 8192
"""Rows held in memory at a time."""
BLANKS = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""The characters that `str.isspace` accepts; Arrow's own list differs."""
PLAIN = r"[\p{L}\p{N}\p{P}]"
"""A letter, digit or punctuation mark: almost every text has one."""


def arrow() -> Any:
    """The library that reads Parquet, with its parts; if it is missing, the error says how to install it."""
    try:
        import_module("pyarrow.parquet")
        import_module("pyarrow.compute")
        return import_module("pyarrow")
    except ImportError as error:
        raise missing_extra("pyarrow", "data", "reading Parquet") from error


@dataclass(frozen=True)
class ParquetRows:
    """The rows of a Parquet file, counted from 0."""

    path: Path

    def columns(self) -> list[str]:
        """The names of its columns."""
        with self.opened() as file, self.reading(0):
            return list(file.schema_arrow.names)

    def count(self) -> int:
        """How many rows there are."""
        with self.opened() as file:
            return int(file.metadata.num_rows)

    def rows(
        self, wanted: Sequence[str] | None, only: Container[int] | None = None
    ) -> Iterator[tuple[int, Record]]:
        """The rows with these numbers, by default all; no Python objects are made for the others."""
        for start, batch in self.batches(wanted):
            with self.reading(start):
                numbers: Sequence[int] = range(start, start + len(batch))
                if only is not None:
                    numbers = [number for number in numbers if number in only]
                    places = [number - start for number in numbers]
                    batch = batch.take(arrow().array(places, "int64"))
                columns = [column.to_pylist() for column in batch.columns]
            for number, *values in zip(numbers, *columns, strict=True):
                yield number, dict(zip(batch.schema.names, values, strict=True))

    def doubtful(self, wanted: Sequence[str] | None, signs: Sequence[str]) -> set[int] | None:
        """The numbers of the rows that must be checked one by one; None if there are too many to save time.

        All other rows hold, in every column, a number that is 0 or more, or a text that is neither blank nor
        one of the signs. The first row is always checked: it shows whether the columns are the right ones.
        """
        numbers = {0}
        for start, batch in self.batches(wanted):
            with self.reading(start):
                fine = reduce(arrow().compute.and_, (whole(c, signs) for c in batch.columns))
                places = arrow().compute.indices_nonzero(arrow().compute.invert(fine))
                numbers.update(start + place for place in places.to_pylist())
            # Once more than about one row in eight is doubtful, reading all of them costs no more.
            if len(numbers) > BATCH + start // 8:
                return None
        return numbers

    def batches(self, wanted: Sequence[str] | None) -> Iterator[tuple[int, Any]]:
        """The rows in batches, each with the number of its first row."""
        done = 0
        with self.opened() as file:
            batches = file.iter_batches(BATCH, columns=wanted and list(wanted))
            while True:
                with self.reading(done):
                    batch = next(batches, None)
                if batch is None:
                    return
                yield done, batch
                done += len(batch)

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """The open file."""
        kinds = (arrow().ArrowException, OSError, ValueError, OverflowError)
        try:
            file = arrow().parquet.ParquetFile(self.path)
        except kinds as error:
            raise InvalidInput(f"'{self.path}' is not a Parquet file: {error}.") from error
        with file:
            yield file

    @contextmanager
    def reading(self, done: int) -> Iterator[None]:
        """Turn what Arrow raises into an error that says after how many rows the file is damaged."""
        try:
            yield
        except (arrow().ArrowException, OSError, ValueError, OverflowError) as error:
            raise InvalidInput(
                f"'{self.path}' cannot be read after row {done}: {error}."
            ) from error


def whole(column: Any, signs: Sequence[str]) -> Any:
    """Whether each value of a column is a number, 0 or more, or a text that is neither blank nor a sign."""
    compute, types = arrow().compute, arrow().types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_integer(column.type) or types.is_floating(column.type):
        fine = compute.greater_equal(column, arrow().scalar(0, column.type))
    elif types.is_string(column.type) or types.is_large_string(column.type):
        trimmed = compute.utf8_trim(column, characters=BLANKS)
        is_sign = compute.is_in(trimmed, arrow().array(["", *signs], column.type))
        fine = compute.and_not(compute.match_substring_regex(column, PLAIN), is_sign)
    else:
        fine = arrow().array([False] * len(column))
    return compute.fill_null(fine, False)
