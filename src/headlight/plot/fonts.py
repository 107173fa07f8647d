"""Fonts that are there, and text that they can draw."""

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
"""Fonts in the order in which a glyph is looked for; DejaVu Sans comes with matplotlib."""
PIXELS = 96
"""Pixels of a layout in an inch."""
POINTS = 72 / PIXELS
RIGHT_TO_LEFT_MARK = "\u200f"


@cache
def families() -> list[str]:
    """The wanted fonts that are installed."""
    installed = {font.name for font in import_module("matplotlib.font_manager").fontManager.ttflist}
    return [name for name in WANTED if name in installed]


@cache
def characters() -> frozenset[int]:
    """All characters that one of them has."""
    manager = import_module("matplotlib.font_manager")
    found: set[int] = set()
    for name in families():
        found |= set(manager.get_font(manager.findfont(name)).get_charmap())
    return frozenset(found)


def drawable(text: str) -> str:
    """The text with a sign for each character that no font has; joined emoji are one."""
    known = characters()
    shown = []
    for cluster in clusters(visible(text)):
        is_whole = all(ord(c) in known or is_weightless(c) for c in cluster)
        shown.append("".join(c for c in cluster if ord(c) in known) if is_whole else REPLACEMENT)
    return "".join(shown)


def verbatim(text: str) -> str:
    """Text for titles and ticks, which matplotlib would read as a formula where it has dollars."""
    return drawable(text).replace("$", r"\$")


@cache
def measuring() -> Any:
    """What knows how many dots wide a text will be in a PNG."""
    figure = import_module("matplotlib.figure").Figure(dpi=RESOLUTION)
    return import_module("matplotlib.backends.backend_agg").FigureCanvasAgg(figure).get_renderer()


@cache
def properties(points: float) -> Any:
    """The fonts at a size."""
    return import_module("matplotlib.font_manager").FontProperties(family=families(), size=points)


def width_of(text: str, size: float) -> float:
    """How wide a text of a size in pixels is when it is drawn."""
    dots, _, _ = measuring().get_text_width_height_descent(
        drawable(text), properties(size * POINTS), False
    )
    return float(dots) * PIXELS / RESOLUTION
