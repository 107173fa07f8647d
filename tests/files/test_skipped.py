"""Rows that are left out are named, and counted whole."""

import logging

import pytest

from headlight import InvalidInput
from headlight.files.skipped import Skipped, say


def test_rows_are_named_by_reason_and_counted_of_all() -> None:
    skipped = Skipped("a.csv", read=5)
    skipped.skip("line 2", "no text")
    skipped.skip("line 4", "no text")
    skipped.pass_over("no answer")
    assert skipped.notes() == [
        "skipped 2 of 8 rows of 'a.csv' with no text: line 2, line 4.",
        "skipped 1 of 8 rows of 'a.csv' with no answer.",
    ]


def test_only_the_first_ten_are_named() -> None:
    skipped = Skipped("a.csv")
    for number in range(12):
        skipped.skip(f"line {number}", "no text")
    (note,) = skipped.notes()
    assert note.startswith("skipped 12 of 12 rows")
    assert note.endswith("line 8, line 9 ….")


def test_with_strict_the_first_stops() -> None:
    with pytest.raises(InvalidInput, match=r"line 2 of 'a\.csv' has no text\. Mend or remove it"):
        Skipped("a.csv", strict=True).skip("line 2", "no text")


def test_notes_are_warnings_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    say("100 % of it")
    assert caplog.record_tuples == [("headlight", logging.WARNING, "100 % of it")]
