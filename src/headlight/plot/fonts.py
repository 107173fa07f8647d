"""Installed fonts, and text that they can draw."""

from functools import cache
from importlib import import_module
from typing import Any

from headlight.plot.canvas import RESOLUTION
from headlight.renderers.characters import REPLACEMENT, clusters, is_weightless, visible

WANTED = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "PingFang SC",
    "Microsoft YaHei",
    "Malgun Gothic",
    "Noto Sans Arabic",
    "Noto Naskh Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Nirmala UI",
    "Noto Sans Thai",
    "Noto Emoji",
    "Segoe UI Emoji",
    "Segoe UI Symbol",
    "Symbola",
    "Arial Unicode MS",
)
"""Fonts in the order in which they are searched for a glyph; DejaVu Sans comes with matplotlib."""
PIXELS = 96
"""Pixels per inch of a layout."""
POINTS = 72 / PIXELS
RIGHT_TO_LEFT_MARK = "\u200f"


@cache
def families() -> list[str]:
    """The wanted fonts that are installed."""
    installed = {font.name for font in import_module("matplotlib.font_manager").fontManager.ttflist}
    return [name for name in WANTED if name in installed]


@cache
def characters() -> frozenset[int]:
    """All characters that one of the installed fonts has."""
    manager = import_module("matplotlib.font_manager")
    found: set[int] = set()
    for name in families():
        found |= set(manager.get_font(manager.findfont(name)).get_charmap())
    return frozenset(found)


def drawable(text: str) -> str:
    """The text with a replacement sign for each character (or joined emoji) that no font has."""
    known = characters()
    shown = []
    for cluster in clusters(visible(text)):
        is_whole = all(ord(c) in known or is_weightless(c) for c in cluster)
        shown.append("".join(c for c in cluster if ord(c) in known) if is_whole else REPLACEMENT)
    return "".join(shown)


def verbatim(text: str) -> str:
    """Text for titles and ticks; dollar signs are escaped, because matplotlib reads them as formulas."""
    return drawable(text).replace("$", r"\$")


@cache
def measuring() -> Any:
    """A matplotlib renderer that measures the width of text in the dots of a PNG."""
    figure = import_module("matplotlib.figure").Figure(dpi=RESOLUTION)
    return import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure).get_renderer()


@cache
def properties(points: float) -> Any:
    """The fonts at a size."""
    return import_module("matplotlib.font_manager").FontProperties(family=families(), size=points)


def width_of(text: str, size: float) -> float:
    """The width in pixels of a text drawn at this size in pixels."""
    dots, _, _ = measuring().get_text_width_height_descent(
        drawable(text), properties(size * POINTS), False
    )
    return float(dots) * PIXELS / RESOLUTION
