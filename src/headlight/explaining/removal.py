"""What an answer's probability is when units of its prompt are removed: `Removal` reads it, each case once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch

from headlight.answer import Numbers
from headlight.models.model import Model
from headlight.progress import progress_of
from headlight.running.double import double
from headlight.running.prefixes import Prefix, Read, prefix_of, token_log_probabilities
from headlight.running.undisturbed import plain_state, undisturbed

Kept = tuple[bool, ...]
"""For each unit, whether it is left in the prompt."""


@dataclass(frozen=True)
class Divided:
    """A prompt with its answer, divided into units and parts.

    units: the unit of each token of the prompt, None for those that are always kept. parts: the first and last
    token of each explained part of the answer, which begins after the prompt's tokens.
    """

    ids: tuple[int, ...]
    units: tuple[int | None, ...]
    parts: tuple[tuple[int, int], ...]

    @property
    def unit_count(self) -> int:
        """How many units there are."""
        return 1 + max((unit for unit in self.units if unit is not None), default=-1)

    @property
    def part_lengths(self) -> tuple[int, ...]:
        """How many tokens each part has."""
        return tuple(last - first + 1 for first, last in self.parts)

    def without_removed(self, kept: Kept) -> Read:
        """The tokens that are left, and where the answer begins among them.

        If nothing is left of the prompt, its first token stays: a network predicts nothing from no token.
        """
        prompt = [
            token
            for token, unit in zip(self.ids, self.units, strict=False)
            if unit is None or kept[unit]
        ] or [self.ids[0]]
        return Read((*prompt, *self.ids[len(self.units) :]), len(prompt))


@dataclass(frozen=True)
class Reading:
    """How cases are read: how many at once at most, and whether progress is shown."""

    batch_size: int = 32
    progress: bool = False


QUIETLY = Reading()


@dataclass(eq=False)
class Removal:
    """Reads the log-probabilities of the parts of one answer without some units, and remembers them.

    A unit is removed by leaving out its tokens; the answer stays as it is. What comes before the first removed
    token is computed once, if the family keeps keys and values. prefixes: empty until something was read.
    """

    model: Model
    text: Divided
    reading: Reading = QUIETLY
    known: dict[Kept, Numbers] = field(default_factory=dict)
    prefixes: list[Prefix | None] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many cases were read."""
        return len(self.known)

    @property
    def unit_count(self) -> int:
        """How many units can be removed."""
        return self.text.unit_count

    @property
    def whole(self) -> Kept:
        """The case in which nothing is removed."""
        return (True,) * self.unit_count

    @property
    def nothing(self) -> Kept:
        """The case in which every unit is removed."""
        return (False,) * self.unit_count

    def log_probabilities(self, cases: Sequence[Kept]) -> Numbers:
        """The log-probabilities [case, part]; cases that were read before are not read again."""
        new = [case for case in dict.fromkeys(cases) if case not in self.known]
        if new:
            work = partial(self.read, new)
            self.known |= zip(new, undisturbed(work, plain_state(), torch.no_grad()), strict=True)
        return np.stack([self.known[case] for case in cases])

    def read(self, cases: Sequence[Kept]) -> list[Numbers]:
        """The log-probabilities of parts in these cases."""
        model, begin = double(self.model), len(self.text.units)
        how, rows = self.reading, [self.text.without_removed(case) for case in cases]
        tokens = sum(len(row.ids) for row in rows)
        doing = f"reading {len(rows)} cases of removed units, tokens"
        with progress_of(doing, tokens, is_shown=how.progress) as advance:
            if not self.prefixes:
                self.prefixes.append(prefix_of(model, self.text.ids[:begin]))
            logs = token_log_probabilities(
                model, rows, self.prefixes[0], how.batch_size, advance=advance
            )
        return [
            np.array(
                [own[first - begin : last - begin + 1].sum() for first, last in self.text.parts]
            )
            for own in logs
        ]
