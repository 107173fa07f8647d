"""Figure of a method layer by layer: layers by tokens, with their sum and a rollout."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from headlight.attribution import Attribution
from headlight.errors import InvalidInput
from headlight.methods import METHODS
from headlight.plot.canvas import figure, ink, inked
from headlight.plot.cells import READABLE, add_scale, full_title, paint
from headlight.plot.fonts import families
from headlight.registry.entries import parse_specification
from headlight.renderers.matrix import Cells, outside_note
from headlight.renderers.pieces import headline
from headlight.tokens import readable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NARROWEST = 3.6
"""The least width in inches, so that the title has room."""
BAND = READABLE
"""How many tokens are drawn side by side; longer texts continue below."""


def layers(attributions: Sequence[Attribution], *, rollout: Attribution | None = None) -> "Figure":
    """Layers (rows, the first on top) by tokens, with the rows 'sum' and 'rollout' (AttCAT, Fig. 4).

    attributions: the result of `headlight.explain_layers` for one input. The sum is shown for methods that are
    sums over layers. All layers share one scale; the sum and the rollout have their own.
    """
    blocks = layer_cells(attributions, rollout)
    count = len(attributions[0])
    starts = range(0, count, BAND)
    heights = [len(block.rows) for block in blocks]
    widest = min(count, BAND)
    width = max(NARROWEST, 1.6 + 0.27 * widest)
    drawn, first = figure(width, 0.6 + len(starts) * (0.9 + 0.26 * sum(heights)))
    first.remove()
    grid = drawn.subplots(
        len(starts) * len(blocks), 1, squeeze=False, height_ratios=heights * len(starts)
    )[:, 0]
    for band, start in enumerate(starts):
        for number, block in enumerate(blocks):
            axes = inked(grid[band * len(blocks) + number])
            image = paint(axes, cut(block, start))
            axes.set_xlim(-0.5, widest - 0.5)
            if number < len(blocks) - 1:
                axes.set_xticks([])
            if number == band == 0:
                shrink = 0.9 / len(starts)
                place = {"fraction": 0.03, "aspect": 15, "shrink": shrink, "anchor": (0.0, 1.0)}
                add_scale(image, block, list(grid), **place)
    drawn.suptitle(full_title(blocks[0]), fontsize=9, family=families(), color=ink())
    return drawn


def layer_cells(attributions: Sequence[Attribution], rollout: Attribution | None) -> list[Cells]:
    """The layers, the sum if the method is one, and the rollout if given, each with its own scale."""
    if not attributions or any("layer" not in each.options for each in attributions):
        raise InvalidInput(
            "these are not the layers of one input. Give the result of headlight.explain_layers: a list "
            "of attributions, one for each layer."
        )
    first = attributions[0]
    if any(each.tokens != first.tokens for each in (*attributions, rollout or first)):
        raise InvalidInput("the layers and the rollout must be of the same tokens.")
    names = tuple(f"layer {each.options['layer']}" for each in attributions)
    scores = np.stack([each.scores for each in attributions])
    found = [scaled(first, names, scores, first.signed)]
    if is_sum(first.method):
        found.append(scaled(first, ("sum",), scores.sum(0, keepdims=True), first.signed))
    if rollout is not None:
        found.append(scaled(first, ("rollout",), rollout.scores[None], rollout.signed))
    return found


def is_sum(method: str) -> bool:
    """Whether a method is the sum of the scores of its layers."""
    name, _ = parse_specification(method)
    return name in METHODS and METHODS[name].layered is not None


def scaled(
    first: Attribution, names: tuple[str, ...], scores: NDArray[np.floating[Any]], is_signed: bool
) -> Cells:
    """Rows of scores, with the scale of an attribution of the same tokens."""
    largest = float(np.abs(scores[:, first.in_scale]).max())
    note = outside_note(first)
    return Cells(headline(first), names, readable(first.tokens), scores, is_signed, largest, note)


def cut(block: Cells, start: int) -> Cells:
    """The columns of one band."""
    end = start + BAND
    return replace(block, columns=block.columns[start:end], values=block.values[:, start:end])
