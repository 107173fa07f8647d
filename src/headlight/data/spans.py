"""Where what people know of an example stands among its tokens."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from headlight.batch import Row
from headlight.data.example import Example


def covered(row: Row, segment: int, start: int, end: int) -> list[int]:
    """The tokens that share a character with a span of a text."""
    if row.offsets is None or row.segments is None:
        return []
    return [
        p
        for p, (first, after) in enumerate(row.offsets)
        if row.segments[p] == segment and first < end and start < after
    ]


def marks_in(row: Row, example: Example) -> NDArray[np.bool_] | None:
    """Which tokens a person marked."""
    if example.marks is None:
        return None
    found = np.zeros(len(row), bool)
    for mark in example.marks:
        found[covered(row, *mark)] = True
    return found


def answers_in(row: Row, answers: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The tokens of the answers that stand in the context as it was read."""
    segment = len(row.texts) - 1
    found = []
    for answer in answers:
        start = row.texts[segment].find(answer)
        tokens = covered(row, segment, start, start + len(answer)) if start >= 0 and answer else []
        if tokens:
            found.append(tuple(tokens))
    return tuple(found)
