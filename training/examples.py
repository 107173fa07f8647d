"""One labelled example."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """One text or pair; a label of -1 is unknown."""

    text: str
    pair: str | None
    label: int
