"""Token mixing: how much of every input token is in every output token."""

from headlight.explaining.mix import mix
from headlight.models.model import Model
from headlight.renderers.matrix import mixing_cells
from headlight.web.answers.formatting import rounded
from headlight.web.answers.reading import check_matrix, row_of
from headlight.web.limits import Limits
from headlight.web.questions import Mix
from headlight.web.replies import Mixed


def mixing(model: Model, question: Mix, limits: Limits) -> Mixed:
    """The token-to-token matrix of one layer."""
    row = row_of(model, question, limits)
    check_matrix(len(row), limits)
    matrices = mix(model, question.input, question.method)
    cells = mixing_cells(matrices, question.layer, question.accumulated)
    matrix, largest = rounded(cells)
    return {
        "method": matrices.method,
        "layer": matrices.number(question.layer),
        "layers": len(matrices.layers),
        "tokens": list(cells.rows),
        "matrix": matrix,
        "largest": largest,
        "note": cells.note,
    }
