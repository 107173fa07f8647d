"""`Skipped`: rows with nothing to explain are left out and named; with `strict` the first is an error."""

import logging
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from headlight.errors import InvalidInput

Say = Callable[[str], None]
SHOWN = 10
"""How many rows a note names."""


def say(note: str) -> None:
    """Log a note for the user: on standard error, unless the program that uses headlight logs elsewhere."""
    logging.getLogger("headlight").warning("%s", note)


@dataclass
class Skipped:
    """What was left out of a source, by reason; the first places are kept, all are counted."""

    source: str
    strict: bool = False
    read: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    places: dict[str, list[str]] = field(default_factory=dict)

    def skip(self, place: str, reason: str) -> None:
        """Leave out the row at this place; if strict, raise."""
        if self.strict:
            raise InvalidInput(
                f"{place} of '{self.source}' has {reason}. Mend or remove it, or read without strict: "
                "then such rows are skipped and named."
            )
        self.pass_over(reason)
        named = self.places.setdefault(reason, [])
        if len(named) < SHOWN:
            named.append(place)

    def pass_over(self, reason: str) -> None:
        """Leave out a row that is not meant to be used, such as a question without an answer."""
        self.counts[reason] += 1

    def notes(self) -> list[str]:
        """One sentence for each reason."""
        total = self.read + self.counts.total()
        return [
            f"skipped {count} of {total} rows of '{self.source}' with {reason}"
            f"{self.named(reason, count)}."
            for reason, count in self.counts.items()
        ]

    def named(self, reason: str, count: int) -> str:
        """The places of the rows that were skipped for this reason."""
        places = self.places.get(reason)
        if not places:
            return ""
        return f": {', '.join(places)}{' …' if count > len(places) else ''}"
