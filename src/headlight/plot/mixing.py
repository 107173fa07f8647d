"""Figure of a token-to-token matrix."""

from typing import TYPE_CHECKING

from headlight.plot.cells import cell_map
from headlight.renderers.matrix import mixing_cells
from headlight.tokenmixing import TokenMixing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def matrix(mixing: TokenMixing, layer: int = -1, *, accumulated: bool = True) -> "Figure":
    """One layer, or the product up to it: rows are output tokens, columns input tokens (ALTI, Fig. 5)."""
    return cell_map(mixing_cells(mixing, layer, accumulated))
