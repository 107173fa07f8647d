"""Explains with several methods; questions with the same methods and mask share passes."""

from collections.abc import Sequence

import numpy as np

from headlight.attribution import Attribution
from headlight.batch import Row
from headlight.errors import HeadlightError, InvalidInput, InvalidOption
from headlight.explaining.prediction import Prediction
from headlight.explaining.robust import Outcome, plan_each, predict_each, run_each
from headlight.headmask import HeadMask
from headlight.methods import METHODS
from headlight.models.model import Model
from headlight.target import Target
from headlight.web.answers.formatting import explanation_reply, failures_of, made_of
from headlight.web.answers.reading import row_of
from headlight.web.limits import Limits, Refusal
from headlight.web.questions import Explain
from headlight.web.replies import Explanation

BATCH_SIZE = 16
"""Rows per pass: fewer than in the library, because the first client waits for the whole batch."""


def explain_all(
    model: Model, questions: Sequence[Explain], limits: Limits
) -> list[Explanation | HeadlightError | Refusal]:
    """Replies to questions with the same methods and mask, from shared passes."""
    rows: dict[int, Row] = {}
    replies: dict[int, Explanation | HeadlightError | Refusal] = {}
    for number, question in enumerate(questions):
        try:
            rows[number] = row_of(model, question, limits, question.methods)
        except (HeadlightError, Refusal) as error:
            replies[number] = error
    answered = explain_rows(model, [questions[n] for n in rows], list(rows.values()))
    replies |= zip(rows, answered, strict=True)
    return [replies[number] for number in range(len(questions))]


def explain_rows(
    model: Model, questions: Sequence[Explain], rows: Sequence[Row]
) -> list[Explanation | HeadlightError]:
    """Replies to questions within the limits; a question that fails does not affect the others."""
    if not questions:
        return []
    targets = [question.asked for question in questions]
    predictions = predict_each(model, rows, targets)
    kept = [n for n, each in enumerate(predictions) if isinstance(each, Prediction)]
    outcomes = attribute(model, [rows[n] for n in kept], [targets[n] for n in kept], questions[0])
    by_number = dict(zip(kept, outcomes, strict=True))
    return [
        reply_of(each, by_number[n]) if isinstance(each, Prediction) else each
        for n, each in enumerate(predictions)
    ]


def attribute(
    model: Model, rows: Sequence[Row], targets: Sequence[Target], question: Explain
) -> list[dict[str, Outcome]]:
    """For each row, the attribution of every method, or the error that says why there is none."""
    names = list(dict.fromkeys(METHODS[name].name for name in question.methods))
    plan, failures = plan_each(model, names, mask_option(question), batch_size=BATCH_SIZE)
    outcomes = [{} for _ in rows] if plan is None else run_each(model, rows, targets, plan)
    return [{**failures, **each} for each in outcomes]


def mask_option(question: Explain) -> dict[str, HeadMask]:
    """The head mask as an option, if it is given and a method takes it."""
    mask = question.mask
    if mask is None or not any("mask" in METHODS[name].options for name in question.methods):
        return {}
    if len({len(layer) for layer in mask}) != 1 or not mask[0]:
        raise InvalidOption(
            "the head mask is not understood. Give a list of layers, each a list with one value per head."
        )
    return {"mask": HeadMask.of(np.array(mask, dtype=np.int64))}


def reply_of(prediction: Prediction, outcomes: dict[str, Outcome]) -> Explanation | HeadlightError:
    """The reply to one question, or the errors of all its methods if none gave an attribution."""
    return explanation_reply(prediction, outcomes) if made_of(outcomes) else no_method(outcomes)


def no_method(outcomes: dict[str, Outcome]) -> InvalidInput:
    """The error for a question that no method could answer, with each reason once."""
    return InvalidInput(" ".join(dict.fromkeys(failures_of(outcomes).values())))


def attributions(model: Model, question: Explain, limits: Limits) -> list[Attribution]:
    """The attributions of one question, to be written as a file."""
    row = row_of(model, question, limits, question.methods)
    (outcomes,) = attribute(model, [row], [question.asked], question)
    if not made_of(outcomes):
        raise no_method(outcomes)
    return made_of(outcomes)
