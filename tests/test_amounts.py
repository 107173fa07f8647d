"""Amounts of memory are read as people write them, and written as they read them."""

from typing import Any

import pytest

from headlight import InvalidOption
from headlight.amounts import bytes_of, in_words


@pytest.mark.parametrize(
    ("given", "expected"),
    [(None, None), (5000, 5000), ("3GB", 3 * 2**30), ("1.5 gib", 3 * 2**29), ("200M", 200 * 2**20), ("7", 7)],
)  # fmt: skip
def test_amounts_of_memory_are_read(given: Any, expected: int | None) -> None:
    assert bytes_of(given) == expected


@pytest.mark.parametrize("given", ["", "much", "-3GB", 0, True, "1.2.3GB", [1]])
def test_other_amounts_are_refused(given: Any) -> None:
    with pytest.raises(InvalidOption, match=r"not an amount of memory.*3GB"):
        bytes_of(given)


def test_amounts_for_people() -> None:
    assert [in_words(n) for n in (2048, 5 * 2**20, 2.5 * 2**30, 20 * 2**30)] == [
        "2 kB", "5.0 MB", "2.5 GB", "20 GB",
    ]  # fmt: skip
