"""What the fields of stored objects may hold."""

import math
from typing import Any

import pytest

from headlight import InvalidInput
from headlight.files.fields import (
    Check,
    check_fields,
    is_count,
    is_named,
    is_number,
    is_text,
    list_of,
    one_of,
    or_none,
)

FIELDS: dict[str, tuple[Check, str]] = {
    "name": (is_text, "text"),
    "sizes": (list_of(is_count), "a list of counts"),
}


@pytest.mark.parametrize(
    ("check", "right", "wrong"),
    [
        (is_text, ["", "a", "🎬"], [None, 1, b"a", "\ud800"]),
        (is_number, [0, -1.5, 10**300], [True, "1", math.nan, math.inf, 10**400]),
        (is_count, [0, 2**31 - 1], [-1, 2**31, 1.0, True]),
        (is_named, [{}, {"a": 1}], [[], {1: 2}, {"\ud800": 1}]),
        (one_of("a", "b"), ["a"], ["c", None, 1]),
        (or_none(is_count), [None, 3], ["3"]),
        (list_of(is_count), [[], [1, 2], (1,)], [{1}, [1, "2"], "12"]),
        (list_of(is_count, size=2), [[1, 2]], [[], [1], [1, 2, 3]]),
    ],
)
def test_checks_take_what_they_say(check: Check, right: list[Any], wrong: list[Any]) -> None:
    assert [value for value in right if not check(value)] == []
    assert [value for value in wrong if check(value)] == []


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        ([1], "a mask is an object with named fields, not a list"),
        ({"name": "x"}, r"needs the fields name, sizes; this lacks \['sizes'\]"),
        ({"name": 1, "sizes": []}, "the field 'name' of a mask must hold text"),
        ({"name": "x", "sizes": [-1]}, "the field 'sizes' of a mask must hold a list of counts"),
    ],
)
def test_objects_are_refused_by_the_name_of_the_field(stored: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        check_fields(stored, FIELDS, "a mask")


def test_further_fields_are_not_looked_at() -> None:
    check_fields({"name": "x", "sizes": [1], "more": object()}, FIELDS, "a mask")
