"""Explains with one method, layer by layer."""

from headlight.explaining.explain import explain
from headlight.explaining.layers import explain_layers
from headlight.models.model import Model
from headlight.web.answers.formatting import views_of
from headlight.web.answers.reading import row_of
from headlight.web.limits import Limits
from headlight.web.questions import Layers
from headlight.web.replies import Layered


def layers(model: Model, question: Layers, limits: Limits) -> Layered:
    """The scores of every layer on one scale, and those of the whole method."""
    row_of(model, question, limits)
    by_layer = explain_layers(model, question.input, question.method, question.asked)
    whole = explain(model, question.input, question.method, question.asked)
    return {
        "method": whole.method,
        "signed": whole.signed,
        "layers": [
            {"layer": each.options["layer"], **views}
            for each, views in zip(by_layer, views_of(by_layer), strict=True)
        ],
        "whole": views_of([whole])[0],
    }
