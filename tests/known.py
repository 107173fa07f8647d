"""For the type checker: values that may be missing in general and are there in a test."""

from typing import TypeVar

Value = TypeVar("Value")


def known(value: Value | None) -> Value:
    """The value, which must be there."""
    assert value is not None
    return value
