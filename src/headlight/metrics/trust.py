"""How far to trust one map: its deletion curve beside those of random orders of the same tokens.

Tokens are removed in ten steps, highest score first. The map is judged by two numbers: its gain, how much less
of the probability it leaves on average than random orders do, and its lead, the same in standard deviations of
these orders. The limits of the lead were chosen on one half of the texts of benchmarks/trust and checked on the
other.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headlight.errors import InvalidInput
from headlight.metrics.case import Case
from headlight.metrics.curves import probability
from headlight.metrics.measuring import measure
from headlight.models.model import Model
from headlight.probing.ask import ask
from headlight.probing.probe import Subject

Level = Literal["unknown", "poor", "fair", "good"]
Curve = tuple[float, ...]
"""The probability of the target from the whole text to the empty one, one value per level."""

ORDERS = 10
"""How many random orders a map is compared with."""
LITTLE = 0.05
"""Nobody would act on a smaller change of the probability. This is a choice, not a measurement."""
SLIGHT = LITTLE / 2
"""The least gain over random orders that counts as somewhat better; also a choice."""
CLEAR, SOME = 1.4, 0.7
"""The least leads of a map that is clearly and somewhat better than chance."""
NOTHING = 1e-9
"""Differences of probabilities below this are rounding."""
LOW_QUANTILE, HIGH_QUANTILE = 0.1, 0.9
"""Nine in ten random orders are above the first, nine in ten below the second: the band that the page draws."""

SENTENCES: dict[Level, str] = {
    "unknown": "Cannot be judged here: the answer hardly changes, whatever is removed.",
    "poor": "No better than chance: do not rely on this map.",
    "fair": "Somewhat better than chance.",
    "good": "Clearly better than chance.",
}


@dataclass(frozen=True)
class Trust:
    """A verdict on one map, and the numbers behind it.

    label: the explained target. curve: its probability along the map's order. random: the same along random
    orders. All means leave out the whole text and the empty text, because all orders agree there.
    """

    label: str
    curve: Curve
    random: tuple[Curve, ...]

    @property
    def whole(self) -> float:
        """The probability of the target with the whole text."""
        return self.curve[0]

    @property
    def mean(self) -> float:
        """The mean probability that the map's order leaves."""
        return float(np.mean(self.curve[1:-1] or self.curve))

    @cached_property
    def random_means(self) -> NDArray[np.float64]:
        """The mean probability that each random order leaves."""
        inner = [each[1:-1] or each for each in self.random]
        return np.asarray(np.mean(inner, axis=1), np.float64)

    @property
    def random_mean(self) -> float:
        """The mean probability that random orders leave."""
        return float(self.random_means.mean())

    @property
    def gain(self) -> float:
        """How much less the map's order leaves than random ones."""
        return self.random_mean - self.mean

    @property
    def lead(self) -> float:
        """The gain in standard deviations of the random orders."""
        spread = float(self.random_means.std(ddof=1)) if len(self.random) > 1 else 0.0
        if spread > NOTHING:
            return self.gain / spread
        return float(np.sign(self.gain)) * inf if abs(self.gain) > NOTHING else 0.0

    @property
    def fall(self) -> float:
        """The largest fall of the probability, along the map's order or along random ones on average."""
        if len(self.curve) < 3:
            return 0.0
        random = np.array([each[1:-1] for each in self.random], np.float64).mean(0)
        return self.whole - min(*self.curve[1:-1], float(random.min()))

    @property
    def level(self) -> Level:
        """The verdict in one word."""
        return level_of(self.fall, self.gain, self.lead)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return SENTENCES[self.level]

    @property
    def numbers(self) -> str:
        """The numbers behind the verdict, in words."""
        return (
            f"Removing its highest-scored words step by step leaves ‘{self.label.strip()}’ a probability of "
            f"{self.mean:.2f} on average (with all words it is {self.whole:.2f}); removing random words leaves "
            f"{self.random_mean:.2f}."
        )


def level_of(
    fall: float, gain: float, lead: float, *, clear: float = CLEAR, some: float = SOME
) -> Level:
    """The verdict that a map's largest fall, its gain and its lead make, with these limits of the lead."""
    if fall < LITTLE:
        return "unknown"
    if lead >= clear and gain >= LITTLE:
        return "good"
    return "fair" if lead >= some and gain >= SLIGHT else "poor"


@dataclass(frozen=True)
class Deletion:
    """The probability at every level of an order, starting with the whole text, and the AOPC."""

    levels: Curve
    probabilities: Curve
    aopc: float


def random_orders(length: int, count: int = ORDERS, seed: int = 0) -> list[NDArray[np.float64]]:
    """Scores drawn at random: orders of the tokens with which a map is compared."""
    draw = np.random.default_rng(seed)
    return [draw.random(length) for _ in range(count)]


def deletions_of(
    model: Model, subject: Subject, orders: Sequence[NDArray[np.float64]], change: str = "delete"
) -> list[Deletion]:
    """The probability along every order of the tokens, highest score first."""
    cases = [
        Case(subject, scores, method="", signed=True, predicted=subject.classes[0])
        for scores in orders
    ]
    measures = [each["aopc"][""] for each in measure(model, cases, {"aopc": {"change": change}})]
    if not measures[0].curve:
        raise InvalidInput(f"no curve can be drawn: {measures[0].note}.")
    whole = probability(ask(model, [subject.whole])[0])
    return [
        Deletion((0.0, *each.levels), (whole, *(whole - fall for fall in each.curve)), each.value)
        for each in measures
    ]
