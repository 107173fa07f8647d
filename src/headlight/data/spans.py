"""The tokens of what people know about an example: marks and answers."""

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
    """Which tokens a person marked; None if nobody marked anything."""
    if example.marks is None:
        return None
    is_marked = np.zeros(len(row), bool)
    for mark in example.marks:
        is_marked[covered(row, *mark)] = True
    return is_marked


def answers_in(row: Row, answers: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The tokens of each answer that is in the context as the model read it."""
    segment = len(row.texts) - 1
    spans = []
    for answer in answers:
        start = row.texts[segment].find(answer)
        tokens = covered(row, segment, start, start + len(answer)) if start >= 0 and answer else []
        if tokens:
            spans.append(tuple(tokens))
    return tuple(spans)
