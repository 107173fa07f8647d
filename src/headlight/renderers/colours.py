"""From a score to a colour: the only place that knows a scale.

Hues are those of Okabe and Ito, which people with any common colour blindness can tell apart.
Negative scores are marked by more than colour in every renderer that can.
"""

from dataclasses import dataclass

from headlight.errors import unknown_name

Rgb = tuple[int, int, int]


@dataclass(frozen=True)
class Palette:
    """Colours for scores that speak for the target, against it, and that have no sign."""

    positive: Rgb
    negative: Rgb
    unsigned: Rgb


BLUE: Rgb = (0, 114, 178)
GREEN: Rgb = (0, 158, 115)
PURPLE: Rgb = (136, 86, 167)
VERMILION: Rgb = (213, 94, 0)

PALETTES = {
    "blue_red": Palette(BLUE, VERMILION, PURPLE),
    "green_red": Palette(GREEN, VERMILION, PURPLE),
}
STRONGEST = 0.72
"""Opacity of the largest score: text on it stays readable on light and dark paper."""


def palette(name: str) -> Palette:
    """A palette by name."""
    if name not in PALETTES:
        raise unknown_name("palette", name, PALETTES)
    return PALETTES[name]


def hue(share: float, is_signed: bool, colours: Palette) -> Rgb:
    """The colour of a share of the largest score."""
    if not is_signed:
        return colours.unsigned
    return colours.positive if share >= 0 else colours.negative


def opacity(share: float) -> float:
    """How strongly a share of the largest score is coloured: 0 to STRONGEST."""
    return round(min(abs(share), 1.0) * STRONGEST, 3)


def blended(colour: Rgb, strength: float, paper: Rgb) -> Rgb:
    """A colour laid over paper."""
    mixed = [round(c * strength + p * (1 - strength)) for c, p in zip(colour, paper, strict=True)]
    return mixed[0], mixed[1], mixed[2]
