"""How far to trust a method's ranking of the tokens of one text: its deletion curve beside random ones."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Level = Literal["unknown", "poor", "fair", "good"]

LITTLE = 0.05
"""Nobody would act on a smaller change of the probability. This is a choice, not a measurement."""
SLIGHT = LITTLE / 2
"""The least gain over the mean of random orders that counts as somewhat better."""
LOW_QUANTILE, HIGH_QUANTILE = 0.1, 0.9
"""Nine in ten random orders are above the first, nine in ten below the second: the band that the page draws."""
MOSTLY = 0.5
"""A curve is below chance if it is below the low quantile at this share of its levels or more: a single
level can be low by luck, and at the last ones hardly a token is left to tell orders apart."""

SENTENCES: dict[Level, str] = {
    "unknown": "Cannot be judged here: the answer hardly changes, whatever is removed.",
    "poor": "No better than chance: do not rely on this map.",
    "fair": "Somewhat better than chance.",
    "good": "Clearly better than chance.",
}


@dataclass(frozen=True)
class Trust:
    """A verdict, and the mean probability left by the method's order and by random orders.

    Both means leave out the whole text and the empty text, because all orders agree there.
    """

    level: Level
    mean: float
    random_mean: float

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return SENTENCES[self.level]


def trust_in(curve: Sequence[float], random: Sequence[Sequence[float]]) -> Trust:
    """The verdict on a method, from its deletion curve and those of random orders.

    A curve is the probability of the target from the whole text to the empty one, one value per level.
    """
    own, others = np.array(curve, np.float64), np.array(random, np.float64)
    inner, drawn = own[1:-1], others[:, 1:-1]
    if not inner.size:
        return Trust("unknown", float(own.mean()), float(others.mean()))
    level = level_of(float(own[0]), inner, drawn)
    return Trust(level, float(inner.mean()), float(drawn.mean()))


def level_of(whole: float, own: NDArray[np.float64], random: NDArray[np.float64]) -> Level:
    """The level of a curve [level] among random ones [order level], without their common ends."""
    if whole - min(own.min(), random.mean(0).min()) < LITTLE:
        return "unknown"
    gain = random.mean() - own.mean()
    is_below = np.mean(own < np.quantile(random, LOW_QUANTILE, axis=0)) >= MOSTLY
    if is_below and gain >= LITTLE:
        return "good"
    return "fair" if is_below or gain >= SLIGHT else "poor"
