"""How the probability changes when tokens are removed."""

from headlight.errors import InvalidInput
from headlight.explaining.trust import explained_subject
from headlight.metrics.curves import probability
from headlight.models.model import Model, Task
from headlight.probing.ask import ask
from headlight.web.answers.reading import decide
from headlight.web.limits import Limits
from headlight.web.questions import Hide
from headlight.web.replies import ProbabilityChange


def hide(model: Model, question: Hide, limits: Limits) -> ProbabilityChange:
    """The probability of the explained label with some tokens removed."""
    prediction = decide(model, question, limits)
    subject = explained_subject(model, prediction)
    outside = sorted(set(question.hidden) - set(subject.eligible))
    if outside:
        raise InvalidInput(
            f"the tokens at {', '.join(map(str, outside))} cannot be removed: they are special, the decision "
            f"is read there, or they are beyond the end of the text (it has {len(subject.row)} tokens)."
        )
    before, after = ask(model, [subject.whole, subject.without(question.hidden, question.change)])
    has_classes = model.task is not Task.QUESTION
    return {
        "label": prediction.resolved.label,
        "before": probability(before),
        "after": probability(after),
        "predicted": label_of(model, after.predicted) if has_classes else None,
    }


def label_of(model: Model, index: int) -> str:
    """The name of a class or of a vocabulary token."""
    if model.task in (Task.MASKED, Task.CAUSAL) and model.tokenizer is not None:
        return str(model.tokenizer.decode([index])).strip()
    return model.labels.get(index, str(index))
