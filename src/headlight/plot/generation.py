"""Figure of a generated text: which inputs made each output token."""

from typing import TYPE_CHECKING

from headlight.attribution import Generation
from headlight.plot.cells import cell_map
from headlight.renderers.matrix import generation_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def generation(found: Generation) -> "Figure":
    """Output tokens (rows) by the tokens before them (columns); later tokens stay blank."""
    return cell_map(generation_cells(found))
