"""`trust`: how far one attribution can be relied on, measured on its own text."""

from math import isclose

import numpy as np

from headlight.attribution import Attribution
from headlight.batch import Row
from headlight.errors import HeadlightError, InvalidInput
from headlight.explaining.inputs import rows_of
from headlight.explaining.plan import check_model
from headlight.explaining.prediction import Prediction, logits_by_row, predicted
from headlight.metrics.trust import Trust, deletions_of, random_orders
from headlight.models.model import Model, Task
from headlight.models.reading import cut_to_limit
from headlight.probing.probe import Subject, subject_of
from headlight.target import Target

TOLERANCE = 0.02
"""How far the stored logit may be from that of this model: it may be of 16 bits or of another device."""


def trust(
    model: Model, attribution: Attribution, *, change: str = "delete", seed: int = 0
) -> Trust:
    """How far to trust one attribution: the probability as its highest scores go, beside random orders.

    `found.sentence` is the verdict, `found.numbers` says what it rests on, and the numbers are fields. The
    attribution must be of tokens of a text, by this model. change: how tokens are removed, as in the metrics.
    seed: of the random orders. docs/how-to/read-the-scores.md says how the verdict is made and how often it is
    right.
    """
    check_model(model)
    row = explained_row(model, attribution)
    prediction = explained_prediction(model, row, attribution)
    subject = explained_subject(model, prediction)
    orders = [np.array(attribution.scores, np.float64), *random_orders(len(row), seed=seed)]
    own, *random = deletions_of(model, subject, orders, change)
    return Trust(
        prediction.resolved.label, own.probabilities, tuple(each.probabilities for each in random)
    )


def explained_row(model: Model, attribution: Attribution) -> Row:
    """The tokens of an attribution as the model reads them; refused if it reads others."""
    if attribution.unit != "token" or not attribution.texts:
        what = "words" if attribution.unit == "word" else "token ids without a text"
        raise InvalidInput(
            f"the attribution is of {what}, and the tokens of a text are removed to judge it. Give the "
            "attribution of tokens, before .words()."
        )
    first, *second = attribution.texts
    row = cut_to_limit(model, rows_of(model, [(first, second[0]) if second else first])[0])
    if row.tokens != attribution.tokens:
        raise InvalidInput(
            f"the attribution has {len(attribution)} tokens, and {model.name} reads {len(row)}, or others. "
            "Give the model that was explained, and a text that it reads in one window."
        )
    return row


def explained_prediction(model: Model, row: Row, attribution: Attribution) -> Prediction:
    """What the model decides, with the target of an attribution; refused if that is not what it explains."""
    (logits,) = logits_by_row(model, [row])
    told = attribution.target
    try:
        found = predicted(model, row, target_of(model, attribution), logits)
    except HeadlightError as error:
        raise cannot_tell(attribution, model) from error
    terms = found.resolved.terms
    value = sum(term.sign * float(logits[term.position, term.index]) for term in terms)
    is_same = len(terms) > 1 or isclose(value, told.logit, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    if found.resolved.label != told.label or not is_same:
        raise cannot_tell(attribution, model)
    return found


def cannot_tell(attribution: Attribution, model: Model) -> InvalidInput:
    """The error for an attribution whose target this model does not have, or not with that logit."""
    told = attribution.target
    return InvalidInput(
        f"the attribution explains '{told.label}' with the logit {told.logit:.3g}, which {model.name} does not "
        "give for this text. Give the model that was explained; one class rather than another cannot be judged."
    )


def target_of(model: Model, attribution: Attribution) -> Target:
    """The target that an attribution names."""
    told = attribution.target
    places = told.positions or ()
    if model.task is Task.QUESTION and places:
        return Target(span=(places[0], places[-1]))
    if model.task in (Task.SEQUENCE, Task.REGRESSION):
        return Target(label=told.label)
    if model.task is Task.CAUSAL and len(places) > 1:
        return Target(span=(places[0] + 1, places[-1] + 1))
    # What is predicted is known by its number; the name of a vocabulary token may fit several.
    label = None if told.label == told.predicted else told.label
    return Target(label=label, position=told.position)


def explained_subject(model: Model, prediction: Prediction) -> Subject:
    """The row of a prediction, ready to be probed for the explained label."""
    if model.task is Task.REGRESSION:
        raise InvalidInput(f"{model.name} predicts a number, so there is no probability to watch.")
    terms = [term for term in prediction.resolved.terms if term.sign > 0]
    places, classes = [t.position for t in terms], [t.index for t in terms]
    return subject_of(model, prediction.row, places, classes)
