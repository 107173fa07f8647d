"""Matrices of scores as coloured cells."""

from typing import TYPE_CHECKING, Any

import numpy as np

from headlight.plot.canvas import colour, figure, ink, inked, paper, shades
from headlight.plot.fonts import families, verbatim
from headlight.renderers.colours import MARKED, palette
from headlight.renderers.matrix import Cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

READABLE = 40
"""Up to this many names are drawn at full size."""
WIDEST, HIGHEST = 12.0, 12.0
ABOVE = 1 + 1e-6
"""The end of the scale, in largest scores: a little above 1, so that rounding puts none of them beyond it."""


def cell_map(cells: Cells) -> "Figure":
    """A matrix with its names, its title and its scale."""
    width = min(WIDEST, 2.2 + 0.26 * len(cells.columns))
    height = min(HIGHEST, 2.2 + 0.26 * len(cells.rows))
    drawn, axes = figure(width + 0.8, height)
    image = paint(axes, cells)
    axes.set_title(full_title(cells), fontsize=9, family=families())
    add_scale(image, cells, [axes], fraction=0.04)
    return drawn


def full_title(cells: Cells) -> str:
    """The title, with the note on the scale below it."""
    return "\n".join(verbatim(line) for line in (cells.title, cells.note) if line)


def add_scale(image: "AxesImage", cells: Cells, beside: "list[Axes]", **place: Any) -> None:
    """Add the colour scale of an image beside axes, with the words for its colours."""
    drawn = beside[0].get_figure()
    assert drawn is not None
    bar = drawn.colorbar(image, ax=beside, **place)
    axes = inked(bar.ax)
    axes.tick_params(labelsize=7)
    bar.outline.set_visible(False)
    positive, negative, unsigned = palette("blue_red").words
    axes.set_title(positive if cells.is_signed else unsigned, fontsize=8)
    axes.set_xlabel(negative if cells.is_signed else "", fontsize=8)


def paint(axes: "Axes", cells: Cells) -> "AxesImage":
    """Draw the cells, with a minus in negative ones; cells without a score stay blank."""
    top = cells.largest or 1.0
    image = axes.imshow(
        cells.values,
        cmap=shades(cells.is_signed, palette("blue_red")),
        vmin=-top * ABOVE if cells.is_signed else 0.0,
        vmax=top * ABOVE,
        aspect="auto",
        interpolation="nearest",
    )
    if cells.is_signed:
        rows, columns = np.nonzero(np.nan_to_num(cells.values / top) < MARKED)
        size = min(16.0, 1500.0 / max(len(cells.columns), len(cells.rows)))
        axes.scatter(columns, rows, marker="_", s=size, color=[ink()], linewidths=0.8)
    if np.isnan(cells.values).any():
        outline(axes, cells)
    axes.set_xticks(range(len(cells.columns)), named(cells.columns), rotation=90)
    axes.set_yticks(range(len(cells.rows)), named(cells.rows))
    for axis, names in ((axes.xaxis, cells.columns), (axes.yaxis, cells.rows)):
        size = 8.0 if len(names) <= READABLE else max(2.0, 8.0 * READABLE / len(names))
        for label in axis.get_ticklabels():
            label.set(fontfamily=families(), fontsize=size)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image


def outline(axes: "Axes", cells: Cells) -> None:
    """Draw a line around the cells that have a score, so that a score of 0 differs from no score."""
    from matplotlib.patches import Rectangle

    for row, values in enumerate(cells.values):
        places = np.flatnonzero(~np.isnan(values))
        corner, width = (places[0] - 0.5, row - 0.5), places[-1] - places[0] + 1
        faint = colour(paper().faint)
        axes.add_patch(Rectangle(corner, width, 1, fill=False, edgecolor=faint, linewidth=0.4))


def named(names: tuple[str, ...]) -> list[str]:
    """Names as ticks."""
    return [verbatim(name) for name in names]
