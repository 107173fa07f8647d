"""Deletion curves of methods on one text, and of random orders for comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from headlight.errors import InvalidInput
from headlight.metrics.case import Case
from headlight.metrics.curves import probability
from headlight.metrics.measuring import measure
from headlight.metrics.trust import HIGH_QUANTILE, LOW_QUANTILE, trust_in
from headlight.models.model import Model
from headlight.probing.ask import ask
from headlight.probing.probe import Subject
from headlight.web.answers.explaining import attribute
from headlight.web.answers.formatting import failures_of, made_of
from headlight.web.answers.hiding import explained_subject
from headlight.web.answers.reading import decide
from headlight.web.limits import Limits
from headlight.web.questions import Curves
from headlight.web.replies import Curve, DeletionCurves, RandomCurve

RANDOM_ORDERS = 10
"""How many random orders a deletion curve is compared with."""


@dataclass(frozen=True)
class Deletion:
    """The probability at every level of an order, starting with the whole text, and the AOPC."""

    levels: tuple[float, ...]
    probabilities: tuple[float, ...]
    aopc: float


def curves(model: Model, question: Curves, limits: Limits) -> DeletionCurves:
    """The probability as the tokens with the highest scores are removed, for methods and random orders."""
    prediction = decide(model, question, limits, question.methods)
    (outcomes,) = attribute(model, [prediction.row], [question.asked], question)
    made = made_of(outcomes)
    draw = np.random.default_rng(0)
    orders = [
        *(np.array(each.scores, np.float64) for each in made),
        *(draw.random(len(prediction.row)) for _ in range(RANDOM_ORDERS)),
    ]
    subject = explained_subject(model, prediction)
    deletions = deletions_of(model, subject, orders, question.change)
    random = deletions[len(made) :]
    return {
        "label": prediction.resolved.label,
        "levels": list(deletions[0].levels),
        "curves": [
            curve_reply(each.method, deletion, random)
            for each, deletion in zip(made, deletions, strict=False)
        ],
        "random": random_reply(random),
        "failures": failures_of(outcomes),
    }


def deletions_of(
    model: Model, subject: Subject, orders: Sequence[NDArray[np.float64]], change: str
) -> list[Deletion]:
    """The probability along every order of the tokens, highest score first."""
    cases = [
        Case(subject, scores, method="", signed=True, predicted=subject.classes[0])
        for scores in orders
    ]
    measures = [each["aopc"][""] for each in measure(model, cases, {"aopc": {"change": change}})]
    if not measures[0].curve:
        raise InvalidInput(f"no curve can be drawn: {measures[0].note}.")
    whole = probability(ask(model, [subject.whole])[0])
    return [
        Deletion((0.0, *each.levels), (whole, *(whole - fall for fall in each.curve)), each.value)
        for each in measures
    ]


def curve_reply(method: str, deletion: Deletion, random: Sequence[Deletion]) -> Curve:
    """The curve of a method and the verdict on it, ready for JSON."""
    trust = trust_in(deletion.probabilities, [each.probabilities for each in random])
    return {
        "method": method,
        "probabilities": list(deletion.probabilities),
        "aopc": deletion.aopc,
        "trust": {
            "level": trust.level,
            "sentence": trust.sentence,
            "mean": trust.mean,
            "random_mean": trust.random_mean,
        },
    }


def random_reply(random: Sequence[Deletion]) -> RandomCurve:
    """The mean and the middle 80 % of random orders, ready for JSON."""
    drawn = np.array([each.probabilities for each in random])
    return {
        "probabilities": drawn.mean(0).tolist(),
        "low": np.quantile(drawn, LOW_QUANTILE, axis=0).tolist(),
        "high": np.quantile(drawn, HIGH_QUANTILE, axis=0).tolist(),
        "aopc": float(np.mean([each.aopc for each in random])),
    }
