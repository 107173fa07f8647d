"""Checks of the fields of a stored object; an error names the field that is wrong."""

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from headlight.errors import InvalidInput

Check = Callable[[Any], bool]


def check_fields(stored: Any, fields: Mapping[str, tuple[Check, str]], kind: str) -> None:
    """Refuse an object that lacks a field, or has one with a wrong value."""
    if not isinstance(stored, Mapping):
        raise InvalidInput(f"{kind} is an object with named fields, not a {type(stored).__name__}.")
    lacking = sorted(set(fields) - set(stored))
    if lacking:
        raise InvalidInput(f"{kind} needs the fields {', '.join(fields)}; this lacks {lacking}.")
    for name, (is_right, words) in fields.items():
        if not is_right(stored[name]):
            raise InvalidInput(f"the field '{name}' of {kind} must hold {words}.")


def is_text(value: Any) -> bool:
    """Whether a value is text that can be written to a file."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    try:
        return isinstance(value, int | float) and not is_truth(value) and isfinite(value)
    except OverflowError:
        return False


def is_count(value: Any) -> bool:
    """Whether a value is a whole number, 0 or more, that can count tokens, words or characters."""
    return isinstance(value, int) and not is_truth(value) and 0 <= value < 2**31


def is_truth(value: Any) -> bool:
    """Whether a value is true or false."""
    return isinstance(value, bool)


def is_named(value: Any) -> bool:
    """Whether a value is an object whose fields are named by text."""
    return isinstance(value, Mapping) and all(is_text(name) for name in value)


def one_of(*choices: str) -> Check:
    """A check for one of these words."""
    return lambda value: isinstance(value, str) and value in choices


def or_none(check: Check) -> Check:
    """A check that also accepts None."""
    return lambda value: value is None or check(value)


def list_of(check: Check, *, size: int | None = None) -> Check:
    """A check of every element of a list."""
    return lambda value: (
        isinstance(value, list | tuple) and size in (None, len(value)) and all(map(check, value))
    )
