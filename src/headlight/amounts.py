"""Amounts of memory, as people write and read them."""

import re
from typing import Any

from headlight.errors import InvalidOption

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}


def bytes_of(memory: Any) -> int | None:
    """A bound on memory in bytes, from a number of bytes or text such as "3GB"; None if there is none."""
    if memory is None:
        return None
    match = re.fullmatch(r"\s*([\d.]+)\s*([kmgt]?)i?b?\s*", str(memory).lower())
    try:
        count = float(match[1]) * UNITS[match[2]] if match and not isinstance(memory, bool) else 0
    except ValueError:
        count = 0
    if count < 1:
        raise InvalidOption(
            f'memory={memory!r} is not an amount of memory. Give bytes, or text such as "3GB".'
        )
    return int(count)


def in_words(count: float) -> str:
    """An amount of memory for people."""
    for unit, size in (("GB", 2**30), ("MB", 2**20)):
        if count >= size:
            return (
                f"{count / size:.1f} {unit}" if count < 10 * size else f"{count / size:,.0f} {unit}"
            )
    return f"{count / 2**10:.0f} kB"
