"""Deletion curves of methods on one text, and of random orders for comparison."""

from collections.abc import Sequence

import numpy as np

from headlight.explaining.trust import explained_subject
from headlight.metrics.trust import (
    HIGH_QUANTILE,
    LOW_QUANTILE,
    Deletion,
    Trust,
    deletions_of,
    random_orders,
)
from headlight.models.model import Model
from headlight.web.answers.explaining import attribute
from headlight.web.answers.formatting import failures_of, made_of
from headlight.web.answers.reading import decide
from headlight.web.limits import Limits
from headlight.web.questions import Curves
from headlight.web.replies import Curve, DeletionCurves, RandomCurve


def curves(model: Model, question: Curves, limits: Limits) -> DeletionCurves:
    """The probability as the tokens with the highest scores are removed, for methods and random orders."""
    prediction = decide(model, question, limits, question.methods)
    (outcomes,) = attribute(model, [prediction.row], [question.asked], question)
    made = made_of(outcomes)
    own = (np.array(each.scores, np.float64) for each in made)
    orders = [*own, *random_orders(len(prediction.row))]
    subject = explained_subject(model, prediction)
    deletions = deletions_of(model, subject, orders, question.change)
    random = deletions[len(made) :]
    return {
        "label": prediction.resolved.label,
        "levels": list(deletions[0].levels),
        "curves": [
            curve_reply(each.method, prediction.resolved.label, deletion, random)
            for each, deletion in zip(made, deletions, strict=False)
        ],
        "random": random_reply(random),
        "failures": failures_of(outcomes),
    }


def curve_reply(method: str, label: str, deletion: Deletion, random: Sequence[Deletion]) -> Curve:
    """The curve of a method and the verdict on it, ready for JSON."""
    trust = Trust(label, deletion.probabilities, tuple(each.probabilities for each in random))
    return {
        "method": method,
        "probabilities": list(deletion.probabilities),
        "aopc": deletion.aopc,
        "trust": {
            "level": trust.level,
            "sentence": trust.sentence,
            "numbers": trust.numbers,
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
