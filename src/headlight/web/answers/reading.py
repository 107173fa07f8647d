"""From a question to its row of tokens and the model's decision, within the limits of the server."""

from collections.abc import Sequence

from headlight.batch import Row
from headlight.explaining.inputs import cut_to_limit, rows_of
from headlight.explaining.prediction import Prediction, predict
from headlight.methods import METHODS
from headlight.models.model import Model
from headlight.web.limits import Limits, Refusal
from headlight.web.questions import Generate, Question


def row_of(
    model: Model, question: Question | Generate, limits: Limits, methods: Sequence[str] = ()
) -> Row:
    """The tokens of a question, refused where they are too many for the server or for the methods."""
    if isinstance(question, Generate):
        (row,) = rows_of(model, question.text)
    else:
        (row,) = rows_of(model, question.input)
        row = cut_to_limit(model, row, advice="")
    if len(row) > limits.tokens:
        raise Refusal(
            413,
            f"the text has {len(row)} tokens and this server explains up to {limits.tokens}. Shorten it.",
        )
    check_methods(methods, row, limits)
    return row


def check_methods(methods: Sequence[str], row: Row, limits: Limits) -> None:
    """Refuse slow methods on long texts, and too many of them."""
    slow = [METHODS[name].name for name in methods if METHODS[name].cost == "slow"]
    if len(slow) > limits.slow_methods:
        raise Refusal(
            413,
            f"{', '.join(slow)} take many passes, and this server uses up to {limits.slow_methods} such "
            "methods at once. Choose fewer of them.",
        )
    if slow and len(row) > limits.slow_tokens:
        raise Refusal(
            413,
            f"the text has {len(row)} tokens; {', '.join(slow)} take many passes, so this server uses "
            f"them up to {limits.slow_tokens} tokens. Shorten the text, or choose other methods.",
        )


def check_matrix(size: int, limits: Limits) -> None:
    """Refuse a matrix that no page could show."""
    if size > limits.matrix_tokens:
        raise Refusal(
            413,
            f"the text has {size} tokens, and a matrix is shown up to {limits.matrix_tokens}. Shorten it.",
        )


def decide(
    model: Model, question: Question, limits: Limits, methods: Sequence[str] = ()
) -> Prediction:
    """What the model decides on a question that is within the limits."""
    row = row_of(model, question, limits, methods)
    (prediction,) = predict(model, [row], [question.asked])
    return prediction
