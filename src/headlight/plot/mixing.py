"""Token-to-token matrices."""

from typing import TYPE_CHECKING

from headlight.plot.canvas import colour, figure
from headlight.renderers.colours import BLUE
from headlight.tokenmixing import TokenMixing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def matrix(mixing: TokenMixing, layer: int = -1, *, accumulated: bool = True) -> "Figure":
    """One layer, or the product up to it: rows are tokens there, columns input tokens (ALTI, Fig. 5)."""
    from matplotlib.colors import LinearSegmentedColormap

    found = mixing.at(layer, accumulated=accumulated)
    size = min(12.0, 2.2 + 0.26 * len(found))
    drawn, axes = figure(size + 0.8, size)
    shades = LinearSegmentedColormap.from_list("shares", [(1.0, 1.0, 1.0), colour(BLUE)])
    image = axes.imshow(found, cmap=shades, vmin=0, vmax=float(found.max()) or 1.0)
    names = [token.replace("$", r"\$") for token in mixing.tokens]
    font = 8 if len(names) <= 40 else max(2, 320 / len(names))
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize=font)
    axes.set_yticks(range(len(names)), names, fontsize=font)
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    number = layer % len(mixing.layers)
    axes.set_title(
        f"{mixing.method}, {'up to' if accumulated else 'in'} layer {number}", fontsize=9
    )
    drawn.colorbar(image, ax=axes, fraction=0.04)
    return drawn
