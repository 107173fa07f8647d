"""How much of every token is in every other."""

import numpy as np

from headlight.errors import InvalidOption
from headlight.explaining.mix import mix
from headlight.models.model import Model
from headlight.renderers.matrix import mixing_cells
from headlight.web.answers.reading import check_matrix, row_of
from headlight.web.limits import Limits
from headlight.web.questions import Mix
from headlight.web.replies import Mixed


def mixing(model: Model, question: Mix, limits: Limits) -> Mixed:
    """How much of every token is in every other, at one layer."""
    row = row_of(model, question, limits)
    check_matrix(len(row), limits)
    matrices = mix(model, question.input, question.method)
    layer = layer_number(question.layer, len(matrices.layers))
    cells = mixing_cells(matrices, layer - 1, question.accumulated)
    return {
        "method": matrices.method,
        "layer": layer,
        "layers": len(matrices.layers),
        "tokens": list(cells.rows),
        "matrix": np.round(cells.values.astype(np.float64), 5).tolist(),
        "largest": cells.largest,
    }


def layer_number(asked: int, count: int) -> int:
    """The layer that was asked for, 1 to `count`; −1 is the last."""
    if asked != -1 and not 1 <= asked <= count:
        raise InvalidOption(
            f"layer {asked} does not exist: there are {count}, from 1 to {count}, and -1 is the last."
        )
    return count if asked == -1 else asked
