"""Turns scores into colours; the only place that knows the colour scale.

The hues are those of Okabe and Ito, which people with any common colour blindness can tell apart.
Negative scores are marked by more than colour, so that they can be recognised in grey print.
"""

from dataclasses import dataclass

from headlight.errors import unknown_name

Rgb = tuple[int, int, int]


@dataclass(frozen=True)
class Palette:
    """Colours for scores that support the target, argue against it, or have no sign.

    words: the words for the three in a legend.
    """

    positive: Rgb
    negative: Rgb
    unsigned: Rgb
    words: tuple[str, str, str] = ("for", "against", "matters")


@dataclass(frozen=True)
class Paper:
    """The colours of a background and of the text on it; `faint` is for less important text."""

    paper: Rgb
    ink: Rgb
    faint: Rgb
    empty: Rgb
    """The fill of a cell that has no value."""


LIGHT = Paper((255, 255, 255), (34, 34, 34), (104, 104, 104), (242, 242, 242))
DARK = Paper((24, 24, 24), (238, 238, 238), (166, 166, 166), (40, 40, 40))
PAPERS = {"light": LIGHT, "dark": DARK}

BLUE: Rgb = (0, 114, 178)
GREEN: Rgb = (0, 158, 115)
PURPLE: Rgb = (136, 86, 167)
VERMILION: Rgb = (213, 94, 0)
GREY: Rgb = (136, 136, 136)
"""The colour of scores beyond the scale, whatever their sign."""
NAMES = {BLUE: "blue", GREEN: "green", PURPLE: "purple", VERMILION: "orange", GREY: "grey"}
"""The everyday names of the hues."""

PALETTES = {
    "blue_red": Palette(BLUE, VERMILION, PURPLE),
    "green_red": Palette(GREEN, VERMILION, PURPLE),
    "difference": Palette(GREEN, VERMILION, PURPLE, ("more", "less", "differs")),
}
HEAD_KINDS = {"syntactic": BLUE, "positional": VERMILION, "both": PURPLE, "kept": GREEN}
"""Colours of the kinds of heads in a mask."""
STRONGEST = 0.72
"""Opacity of the largest score: text on it keeps a contrast of 4.5 on light and dark paper."""
MARKED = -0.15
"""Signed shares below this are also marked by an underline or a minus."""


def palette(name: str) -> Palette:
    """A palette by name."""
    if name not in PALETTES:
        raise unknown_name("palette", name, PALETTES)
    return PALETTES[name]


def hue(share: float, is_signed: bool, colours: Palette) -> Rgb:
    """The colour of a share of the largest score."""
    if is_beyond(share):
        return GREY
    if not is_signed:
        return colours.unsigned
    return colours.positive if share >= 0 else colours.negative


def is_beyond(share: float) -> bool:
    """Whether a score is larger than every score in the scale: only tokens outside the scale can be."""
    return abs(share) > 1


def opacity(share: float) -> float:
    """How strongly a share of the largest score is coloured: 0 to STRONGEST."""
    return round(min(abs(share), 1.0) * STRONGEST, 3)


def is_marked(share: float, is_signed: bool) -> bool:
    """Whether a score is negative enough to be marked by more than colour."""
    return is_signed and share < MARKED


def blended(colour: Rgb, strength: float, paper: Rgb) -> Rgb:
    """A colour laid over paper."""
    mixed = [round(c * strength + p * (1 - strength)) for c, p in zip(colour, paper, strict=True)]
    return mixed[0], mixed[1], mixed[2]


def shade(share: float, is_signed: bool, colours: Palette, paper: Paper = LIGHT) -> Rgb:
    """The colour of a share of the largest score, blended with the paper."""
    return blended(hue(share, is_signed, colours), opacity(share), paper.paper)


def luminance(colour: Rgb) -> float:
    """Relative luminance (WCAG 2), 0 for black and 1 for white."""
    linear = [
        c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4
        for c in colour
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: Rgb, other: Rgb) -> float:
    """Contrast of two colours (WCAG 2), from 1 to 21; text should have 4.5."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ink_on(fill: Rgb) -> Rgb:
    """Black or white: what is easier to read on a colour at full strength."""
    black, white = (0, 0, 0), (255, 255, 255)
    return black if contrast(black, fill) >= contrast(white, fill) else white


def as_hex(colour: Rgb) -> str:
    """A colour as #rrggbb."""
    return "#{:02x}{:02x}{:02x}".format(*colour)
