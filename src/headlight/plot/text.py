"""Heat maps of text, for PNG and PDF."""

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

from headlight.attribution import Attribution
from headlight.plot.canvas import colour, figure, paper
from headlight.plot.fonts import PIXELS, POINTS, RIGHT_TO_LEFT_MARK, drawable, families, width_of
from headlight.renderers.colours import blended
from headlight.renderers.comparison import panels
from headlight.renderers.layout import Box, Sheet, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WHOLE = 3
"""This many pixels of the layout are a whole number of dots in a PNG (5 at 160 dots per inch)."""


def text(
    attributions: Sequence[Attribution] | Attribution,
    *,
    difference: bool = False,
    columns: int = 1,
    width: float = 720.0,
    colours: str = "blue_red",
) -> "Figure":
    """Heat maps of one or several attributions, one below the other or in columns.

    difference: also show where the first gives more (green) or less (orange) than each of the others.
    """
    several = [attributions] if isinstance(attributions, Attribution) else attributions
    shown = panels(several, difference=difference, colours=colours)
    return painted(sheet(shown, width=width, columns=columns, measure=width_of))


def painted(found: Sheet) -> "Figure":
    """A sheet as a figure of its size."""
    drawn, axes = figure(1, 1)
    drawn.set_layout_engine("none")
    across, down = (WHOLE * ceil(length / WHOLE) for length in (found.width, found.height))
    drawn.set_size_inches(across / PIXELS, down / PIXELS)
    axes.set_position((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0, across), ylim=(down, 0))
    axes.set_axis_off()
    for box in found.boxes:
        paint(axes, box)
    return drawn


def paint(axes: "Axes", box: Box) -> None:
    """Draw one box: its colour, a dotted line if it is negative, and its text."""
    from matplotlib.patches import FancyBboxPatch

    on = paper()
    if box.fill is not None:
        fill = colour(blended(box.fill, box.strength, on.paper))
        corner, height = (box.x, box.y - box.size), 1.3 * box.size
        style = "round,pad=0,rounding_size=2"
        axes.add_patch(
            FancyBboxPatch(corner, box.width, height, boxstyle=style, facecolor=fill, linewidth=0)
        )
    is_inked = box.fill is not None or box.style in ("title", "piece")
    ink = colour(on.ink if is_inked else on.faint)
    if box.is_negative:
        y = box.y + 0.17 * box.size
        axes.plot([box.x, box.x + box.width], [y, y], linestyle=":", color=ink, linewidth=1.2)
    axes.text(
        box.x if box.is_label else box.x + box.width / 2,
        box.y,
        (RIGHT_TO_LEFT_MARK if box.is_rtl else "") + drawable(box.text),
        ha="left" if box.is_label else "center",
        va="baseline",
        color=ink,
        family=families(),
        size=box.size * POINTS,
        weight="bold" if box.style == "title" else "normal",
        parse_math=False,
    )
