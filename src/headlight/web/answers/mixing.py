"""How much of every token is in every other."""

import numpy as np

from headlight.explaining.mix import mix
from headlight.models.model import Model
from headlight.tokens import readable
from headlight.web.answers.reading import check_matrix, row_of
from headlight.web.limits import Limits
from headlight.web.questions import Mix
from headlight.web.replies import Mixed


def mixing(model: Model, question: Mix, limits: Limits) -> Mixed:
    """How much of every token is in every other, at one layer."""
    row = row_of(model, question, limits)
    check_matrix(len(row), limits)
    found = mix(model, question.input, question.method)
    matrix = found.at(question.layer, accumulated=question.accumulated)
    return {
        "method": found.method,
        "layer": question.layer % len(found.layers),
        "layers": len(found.layers),
        "tokens": list(readable(found.tokens)),
        "matrix": np.round(matrix.astype(np.float64), 5).tolist(),
    }
