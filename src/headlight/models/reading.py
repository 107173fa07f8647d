"""Texts as the rows that a model reads: refused if it cannot read them, and cut to its limit."""

from typing import Any

from headlight.batch import Row, encode, shortened
from headlight.errors import InvalidInput
from headlight.models.model import Model, Task


def texts_of(model: Model, texts: list[Any]) -> list[Row]:
    """The rows of texts and pairs."""
    if model.tokenizer is None:
        raise InvalidInput(
            f"{model.name} was wrapped without a tokenizer, so it cannot read text. "
            "Give headlight.wrap a tokenizer, or explain a headlight.Batch.from_ids(…)."
        )
    if not texts:
        raise InvalidInput("the list of texts is empty: there is nothing to explain.")
    if model.task is Task.QUESTION and any(isinstance(text, str) for text in texts):
        raise InvalidInput(
            "question answering needs a question and a context. Give a tuple: (question, context)."
        )
    return [paired(model, row) for row in encode(texts, model.tokenizer)]


def paired(model: Model, row: Row) -> Row:
    """The row, with a note if the model may not be made for this many texts; refused if it cannot read them."""
    count = text_count(row)
    if count == 1 and model.reads == "pair":
        raise InvalidInput(
            f"{model.name} decides about two texts, and one was given. Give a tuple: (first, second)."
        )
    if count == 2 and model.reads == "text":
        return row.noted(f"{model.name} was trained on single texts, and a pair was given")
    names = {name.lower() for name in model.labels.values()}
    if count == 1 and model.reads is None and "entailment" in names:
        return row.noted("the labels are those of pairs of texts, and one text was given")
    return row


def text_count(row: Row) -> int | None:
    """How many texts a row consists of; None if bare ids do not show it."""
    if row.texts:
        return len(row.texts)
    if row.segments is not None:
        return 2 if 1 in row.segments else 1
    return 2 if row.types is not None and 1 in row.types else None


def cut_to_limit(model: Model, row: Row, **wording: str) -> Row:
    """The row, cut to the longest input of the model."""
    if model.token_limit is None:
        return row
    is_question = model.task is Task.QUESTION
    return shortened(row, model.token_limit, keep_first_text=is_question, **wording)
