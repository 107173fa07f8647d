"""Characters as they are drawn: what is visible, how wide it is, and in which direction it runs."""

import unicodedata
from collections.abc import Callable

import regex

Measure = Callable[[str, float], float]
"""The width of a text at a font size, in the unit of the size."""

JOINER = "\u200d"
CLUSTER = regex.compile(r"\X")
"""An extended grapheme cluster of Unicode."""
REPLACEMENT = "\ufffd"
STEERING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Directional controls, which would reverse the text that follows."""
WIDTHS = {
    **dict.fromkeys("ijl'|!.,:;`I ויןזاأإآ", 0.31),
    **dict.fromkeys('frt()[]{}"-/\\*°גנדذرزوء', 0.42),
    **dict.fromkeys("mwMW@%—…", 0.92),
}
"""Widths of unusually narrow or wide letters in an ordinary sans-serif font, as shares of its size."""
USUAL, CAPITAL, WIDE, PICTURE = 0.57, 0.68, 1.0, 1.2


def harmless(text: str) -> str:
    """The text with a replacement sign for characters that cannot or must not be drawn; white space stays."""
    return "".join(REPLACEMENT if is_unfit(c) and not c.isspace() else c for c in text)


def visible(text: str) -> str:
    """Harmless text with every white-space character replaced by a space."""
    return "".join(" " if c.isspace() else c for c in harmless(text.replace("\r\n", "\n")))


def lined(text: str) -> str:
    """Visible text that keeps its line breaks."""
    return "\n".join(visible(line) for line in text.replace("\r\n", "\n").split("\n"))


def is_unfit(character: str) -> bool:
    """Whether a character is a control, a lone surrogate, or reverses text; XML forbids most of them."""
    return (
        unicodedata.category(character) in ("Cc", "Cs")
        or unicodedata.bidirectional(character) in STEERING
        or ord(character) & 0xFFFE == 0xFFFE
    )


def clusters(text: str) -> list[str]:
    """The text cut into what a reader sees as one character: letters with marks, joined emoji, flags."""
    return CLUSTER.findall(text)


def is_flag_letter(character: str) -> bool:
    """Whether a character is a regional indicator; two of them make a flag."""
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def is_weightless(character: str) -> bool:
    """Whether a character has no width: accents, joiners, variation selectors."""
    return unicodedata.category(character) in ("Mn", "Me", "Cf")


def is_picture(character: str) -> bool:
    """Whether a character is an emoji or another picture."""
    return unicodedata.category(character) in ("So", "Sk") and is_wide(character)


def is_wide(character: str) -> bool:
    """Whether a character fills a square, as Chinese ones do; lines may break next to it."""
    return unicodedata.east_asian_width(character) in ("W", "F")


def width_of(text: str, size: float) -> float:
    """The approximate width of a text in any sans-serif font of that size."""
    return size * sum(share(cluster[0]) for cluster in clusters(text))


def share(character: str) -> float:
    """The width of one character as a share of the font's size."""
    if is_weightless(character):
        return 0.0
    if is_picture(character) or is_flag_letter(character):
        return PICTURE
    if is_wide(character):
        return WIDE
    return WIDTHS.get(character, CAPITAL if character.isupper() else USUAL)


def direction(text: str) -> str:
    """'L' or 'R' by the first letter that has a direction; '' if none has."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in ("L", "R", "AL"):
            return "L" if kind == "L" else "R"
    return ""


def is_cursive(character: str) -> bool:
    """Whether a letter joins its neighbours, as in Arabic."""
    return (
        unicodedata.bidirectional(character) == "AL" and unicodedata.category(character)[0] == "L"
    )
