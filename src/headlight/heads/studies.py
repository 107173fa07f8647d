"""How far a mask can be trusted: how it depends on thresholds, on the corpus and on its size."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import add

from headlight.errors import InvalidInput, InvalidOption
from headlight.headmask import HeadMask
from headlight.heads.learning import CorpusLike, learn, parsed
from headlight.heads.parsers import OWN, Parser
from headlight.heads.statistics import HeadStatistics
from headlight.models.model import Model

SYNTACTIC = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
POSITIONAL = (0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True)
class Selection:
    """One pair of thresholds: the mask they give, and its overlap with the mask of the paper's thresholds."""

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
    """The masks of every pair of thresholds, without another pass over the corpus."""
    if not syntactic or not positional:
        raise InvalidOption("a sweep needs at least one threshold of each kind.")
    usual = counts.mask()
    selections = []
    for margin in syntactic:
        for share in positional:
            mask = counts.mask(syntactic=margin, positional=share)
            selections.append(Selection(margin, share, mask, mask.overlap(usual)))
    return selections


@dataclass(frozen=True)
class Agreement:
    """Two masks, and the Jaccard overlap of all their heads and of each part that both have."""

    first: str
    second: str
    overlap: float
    parts: Mapping[str, float]


def mask_agreement(masks: Mapping[str, HeadMask]) -> list[Agreement]:
    """The agreement of every pair of masks, such as those learned on different corpora."""
    if len(masks) < 2:
        raise InvalidInput("masks are compared with each other: give at least two.")
    agreements = []
    for (first, one), (second, other) in combinations(masks.items(), 2):
        shared = [name for name in one.parts if name in other.parts]
        parts = {name: one.part(name).overlap(other.part(name)) for name in shared}
        agreements.append(Agreement(first, second, one.overlap(other), parts))
    return agreements


@dataclass(frozen=True)
class SampleSize:
    """Masks of this many texts, one per draw: how many heads they keep, and their overlap with two other masks.

    whole: the overlap with the mask of the whole corpus. apart: the overlap with a mask of as many other texts;
    empty if the corpus is too small for both.
    """

    texts: int
    heads: tuple[int, ...]
    whole: tuple[float, ...]
    apart: tuple[float, ...]


def sample_sizes(
    model: Model,
    corpus: CorpusLike,
    *,
    parser: Parser | str = OWN,
    limit: int | None = None,
    parts: int = 32,
    draws: int = 10,
    seed: int = 0,
    progress: bool = False,
) -> list[SampleSize]:
    """How many texts a mask needs: masks from 1, 2, 4 … parts of a corpus, each part counted once."""
    inputs, _, source = parsed(corpus, parser, limit)
    texts = list(inputs)
    if not 2 <= parts <= len(texts):
        raise InvalidOption(
            f"parts={parts} is not possible for a corpus of {len(texts)} texts. Use 2 to {len(texts)}."
        )
    counts = [
        learn(model, texts[number::parts], name=source, progress=progress)
        for number in range(parts)
    ]
    chance = random.Random(seed)
    orders = [chance.sample(counts, parts) for _ in range(draws)]
    whole = reduce(add, counts).mask()
    sizes = [2**k for k in range(parts.bit_length()) if 2**k < parts]
    return [sampled(size, orders, whole) for size in [*sizes, parts]]


def sampled(size: int, orders: Sequence[Sequence[HeadStatistics]], whole: HeadMask) -> SampleSize:
    """The masks of the first `size` parts in each order, compared with those of the next `size`."""
    texts, heads, overlaps, apart = 0, [], [], []
    for order in orders:
        mask = reduce(add, order[:size]).mask()
        texts = max(texts, mask.facts["texts"])
        heads.append(mask.count)
        overlaps.append(mask.overlap(whole))
        if 2 * size <= len(order):
            apart.append(mask.overlap(reduce(add, order[size : 2 * size]).mask()))
    return SampleSize(texts, tuple(heads), tuple(overlaps), tuple(apart))
