"""`Readout`: where a head reads the last hidden states, as a rule for rows of any length."""

from dataclasses import dataclass
from typing import Literal

from headlight.batch import Row


@dataclass(frozen=True)
class Stretch:
    """Neighbouring tokens that are read in equal shares: a slice of the counted tokens.

    counts: whether the attended tokens are counted, all tokens, or those other than the network's own
    pad token.
    """

    start: int
    stop: int | None
    counts: Literal["attended", "all", "not pad"] = "attended"

    def positions(self, row: Row, pad_id: int | None) -> list[int]:
        """Where these tokens stand in a row."""
        counted = range(len(row))
        if self.counts == "attended":
            return [p for p in counted if row.attended[p]][self.start : self.stop]
        if self.counts == "not pad":
            return [p for p in counted if row.ids[p] != pad_id][self.start : self.stop]
        return list(counted[self.start : self.stop])


@dataclass(frozen=True)
class Readout:
    """From which tokens the logits are computed, as derived from the network (`proof/readout.py`).

    stage: the name of the module that makes the last hidden states, None if it was not found.
    shares: the stretches that a head that decides once for the whole input reads, each with its share.
        Other heads read the state of the token whose logits they give.
    refusal: why there is no such rule; '' if there is one.
    """

    stage: str | None = None
    shares: tuple[tuple[float, Stretch], ...] = ()
    refusal: str = ""

    def weights(self, row: Row, pad_id: int | None) -> list[float]:
        """The weight of every token of a row for a head that decides once."""
        weights = [0.0] * len(row)
        for share, stretch in self.shares:
            positions = stretch.positions(row, pad_id)
            for position in positions:
                weights[position] += share / len(positions)
        return weights


UNREAD = Readout(refusal="was not looked at")
"""The read-out of a network before it is proved."""
