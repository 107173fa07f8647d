"""The inputs of every token of a generated text."""

from typing import TYPE_CHECKING

from headlight.attribution import Generation
from headlight.plot.cells import cell_map
from headlight.renderers.matrix import generation_cells

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def generation(found: Generation) -> "Figure":
    """Output tokens (rows) by the tokens before them (columns); what does not exist is left blank."""
    return cell_map(generation_cells(found))
