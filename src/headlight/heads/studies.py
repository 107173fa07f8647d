"""How masks depend on their thresholds, from counts alone."""

from collections.abc import Sequence
from dataclasses import dataclass

from headlight.errors import InvalidOption
from headlight.headmask import HeadMask
from headlight.heads.statistics import HeadStatistics

SYNTACTIC = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
POSITIONAL = (0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Selection:
    """One pair of thresholds: the mask they give, and its overlap with that of the paper's thresholds."""

    syntactic: float
    positional: float
    mask: HeadMask
    overlap: float


def threshold_sweep(
    counts: HeadStatistics,
    *,
    syntactic: Sequence[float] = SYNTACTIC,
    positional: Sequence[float] = POSITIONAL,
) -> list[Selection]:
    """Every pair of thresholds, without another pass over the corpus."""
    if not syntactic or not positional:
        raise InvalidOption("a sweep needs at least one threshold of each kind.")
    usual = counts.mask()
    found = []
    for synt in syntactic:
        for pos in positional:
            mask = counts.mask(syntactic=synt, positional=pos)
            found.append(Selection(synt, pos, mask, mask.overlap(usual)))
    return found
