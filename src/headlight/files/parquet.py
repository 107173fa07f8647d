"""Parquet files: rows by their number, and what can be told of them without making them."""

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
"""Rows held in memory."""
BLANKS = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""All that `str.isspace` takes for a blank; Arrow's own list is another."""
PLAIN = r"[\p{L}\p{N}\p{P}]"
"""What every text has but a few of symbols alone: letters, digits or punctuation."""


def arrow() -> Any:
    """The library that reads Parquet, with its parts, or a sentence how to get it."""
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
        """The rows of these numbers, all if not given; no Python object is made of the others."""
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
        """The numbers of the rows that must be looked at one by one; None if they are too many to gain by it.

        All others hold, in every column, a number from 0 on, or a text that is neither blank nor one of the
        signs. The first row is always among them: it shows whether the columns are what they should be.
        """
        found = {0}
        for start, batch in self.batches(wanted):
            with self.reading(start):
                fine = reduce(arrow().compute.and_, (whole(c, signs) for c in batch.columns))
                places = arrow().compute.indices_nonzero(arrow().compute.invert(fine))
                found.update(start + place for place in places.to_pylist())
            if len(found) > BATCH + start // 8:
                return None
        return found

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
        """Tell damage as a sentence: what Arrow raises after so many rows."""
        try:
            yield
        except (arrow().ArrowException, OSError, ValueError, OverflowError) as error:
            raise InvalidInput(
                f"'{self.path}' cannot be read after row {done}: {error}."
            ) from error


def whole(column: Any, signs: Sequence[str]) -> Any:
    """Whether each value of a column is a number from 0 on, or a text that is not blank and not a sign."""
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
