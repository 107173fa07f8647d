"""From a question to its tokens and the model's decision, within the limits of the server."""

from collections.abc import Sequence

from headlight.batch import Row
from headlight.explaining.inputs import rows_of
from headlight.explaining.prediction import Prediction, predict
from headlight.methods import METHODS
from headlight.models.model import Model
from headlight.models.reading import cut_to_limit
from headlight.web.limits import Limits, Refusal
from headlight.web.questions import Generate, Question


def row_of(
    model: Model, question: Question | Generate, limits: Limits, methods: Sequence[str] = ()
) -> Row:
    """The tokens of a question; refused if there are too many for the server or the methods."""
    if isinstance(question, Generate):
        (row,) = rows_of(model, question.text)
    else:
        (row,) = rows_of(model, question.input)
        row = cut_to_limit(model, row, advice="")
    if len(row) > limits.tokens:
        raise Refusal(
            413,
            f"the text has {len(row)} tokens; this server explains up to {limits.tokens}. Shorten it.",
        )
    check_methods(methods, row, limits)
    return row


def check_methods(methods: Sequence[str], row: Row, limits: Limits) -> None:
    """Refuse slow methods on long texts, and too many of them."""
    slow = [METHODS[name].name for name in methods if METHODS[name].cost == "slow"]
    if len(slow) > limits.slow_methods:
        raise Refusal(
            413,
            f"{len(slow)} methods need many passes ({', '.join(slow)}); this server runs up to "
            f"{limits.slow_methods} of them at once. Choose fewer.",
        )
    if slow and len(row) > limits.slow_tokens:
        raise Refusal(
            413,
            f"the text has {len(row)} tokens; methods that need many passes ({', '.join(slow)}) run here on up "
            f"to {limits.slow_tokens}. Shorten the text, or choose other methods.",
        )


def check_matrix(size: int, limits: Limits) -> None:
    """Refuse a matrix that is too large for the page."""
    if size > limits.matrix_tokens:
        raise Refusal(
            413,
            f"the text has {size} tokens; matrices are shown for up to {limits.matrix_tokens}. Shorten it.",
        )


def decide(
    model: Model, question: Question, limits: Limits, methods: Sequence[str] = ()
) -> Prediction:
    """What the model decides on a question, if it is within the limits."""
    row = row_of(model, question, limits, methods)
    (prediction,) = predict(model, [row], [question.asked])
    return prediction
