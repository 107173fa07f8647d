"""How the answer moves when attention heads are switched off while the model runs."""

from headlight.explaining.heads_off import ablate
from headlight.models.model import Model
from headlight.web.answers.reading import row_of
from headlight.web.limits import Limits
from headlight.web.questions import SwitchOff
from headlight.web.replies import WithoutHeads


def switch_off(model: Model, question: SwitchOff, limits: Limits) -> WithoutHeads:
    """The explained number and the decision with all heads, and without some."""
    row_of(model, question, limits)
    (row,) = found = ablate(model, [question.input], question.off, question.asked)
    values = [
        said.logit if said.probability is None else said.probability
        for said in (row.before, row.after)
    ]
    return {
        "label": row.before.label,
        "unit": "value" if row.before.probability is None else "probability",
        "before": values[0],
        "after": values[1],
        "predicted_before": row.before.predicted,
        "predicted_after": row.after.predicted,
        "off": found.heads.count,
        "heads": found.heads.heads.numel(),
    }
