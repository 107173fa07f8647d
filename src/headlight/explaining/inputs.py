"""From a caller's inputs to rows: texts, pairs, what a tokenizer returns, or ids; nothing is guessed."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from io import IOBase
from typing import Any

import numpy as np
from transformers import BatchEncoding

from headlight.batch import Batch, Row, Text, plain, trimmed, with_token_names
from headlight.errors import InvalidInput, InvalidOption
from headlight.models.arguments import arguments_of
from headlight.models.model import Model, Task
from headlight.models.reading import paired, text_count, texts_of
from headlight.running.logits import check_ids
from headlight.target import Target, TargetLike
from headlight.text import wrong_kind

Given = Text | Iterable[Text] | Mapping[str, Any] | Batch
"""What can be explained: a text, a pair, several of these, what a tokenizer returns, or a batch of ids."""

READ = {"input_ids", "attention_mask", "token_type_ids"}
NUMERIC = re.compile("int|float|bool|complex")
"""Types of the numbers in arrays, tensors and columns."""
HARMLESS = {"labels", "start_positions", "end_positions"}
"""Arguments of networks that change only the loss, not the logits."""


@dataclass(frozen=True)
class ReadInputs:
    """The rows of a caller's inputs; one input gets one answer, several get a list."""

    rows: list[Row]
    is_one: bool

    def shaped(self, answers: Sequence[Any]) -> Any:
        """The answers for the rows in the form that the caller gets: one, or a list."""
        return answers[0] if self.is_one else list(answers)


def read(model: Model, inputs: Given) -> ReadInputs:
    """The rows of any input, not cut; what is neither text nor tokens is refused."""
    if isinstance(inputs, Batch):
        batch = inputs
    elif isinstance(inputs, Mapping):
        batch = encoded(model, inputs, "the input")
    else:
        items = listed(inputs)
        if items and all(isinstance(item, Mapping) for item in items):
            rows = [row for n, item in enumerate(items) for row in single(model, item, n)]
            return ReadInputs(tokens_of(model, rows), is_one=False)
        return ReadInputs(texts_of(model, items), isinstance(inputs, str | tuple))
    return ReadInputs(tokens_of(model, batch.rows), len(batch) == 1)


def rows_of(model: Model, inputs: Given) -> list[Row]:
    """The rows of any input, not cut."""
    return read(model, inputs).rows


def listed(inputs: Any) -> list[Any]:
    """A list of single inputs, from one input or from any ordered collection."""
    if isinstance(inputs, str | tuple):
        return [inputs]
    if hasattr(inputs, "columns") or hasattr(inputs, "column_names"):
        columns = getattr(inputs, "column_names", None) or list(getattr(inputs, "columns", ()))
        raise InvalidInput(
            f"the input is a table with the columns {', '.join(map(str, columns))}. "
            "Give one column of it, such as table['text']."
        )
    if NUMERIC.search(str(getattr(inputs, "dtype", ""))):
        raise InvalidInput(
            f"the input is a {type(inputs).__name__} of numbers, not text. Give token ids as "
            "headlight.Batch.from_ids(ids, attention_mask), or what a tokenizer returns."
        )
    is_refused = isinstance(inputs, bytes | bytearray | memoryview | set | frozenset | IOBase)
    if is_refused or not isinstance(inputs, Iterable):
        raise InvalidInput(f"the input is {wrong_kind(inputs)}")
    is_single = getattr(inputs, "ndim", 1) == 0  # an array of one text, without an axis
    return [np.asarray(inputs).item()] if is_single else list(inputs)


# ------------------------------------------------------------------------------------ tokens


def single(model: Model, encoding: Mapping[str, Any], number: int) -> tuple[Row, ...]:
    """The only row of an encoding in a list."""
    batch = encoded(model, encoding, f"input {number}")
    if len(batch) != 1:
        raise InvalidInput(
            f"input {number} holds {len(batch)} rows of ids. Give it on its own, not in a list."
        )
    return batch.rows


def encoded(model: Model, encoding: Mapping[str, Any], name: str) -> Batch:
    """A batch from what a tokenizer returns, with the places of the tokens if it knows them."""
    if encoding.get("input_ids") is None:
        raise InvalidInput(f"{name} is {wrong_kind(encoding)}")
    others = {key for key in encoding if encoding[key] is not None} - READ - HARMLESS
    lost = sorted(others & arguments_of(model.network))
    if lost:
        raise InvalidInput(
            f"{name} has {', '.join(map(repr, lost))}, which would change what {model.name} decides "
            f"and is not passed on. Leave it out: only {', '.join(sorted(READ))} are read."
        )
    batch = Batch.from_ids(
        encoding["input_ids"], encoding.get("attention_mask"), encoding.get("token_type_ids")
    )
    rows = [with_places(row, encoding, number) for number, row in enumerate(batch.rows)]
    return Batch(tuple(rows))


def with_places(row: Row, encoding: Mapping[str, Any], number: int) -> Row:
    """The row with offsets, segments and words of its tokens, if a fast tokenizer kept them."""
    kept = (encoding.encodings or []) if isinstance(encoding, BatchEncoding) else []
    if number >= len(kept) or tuple(kept[number].ids) != row.ids:
        return row
    segments, words = kept[number].sequence_ids, kept[number].word_ids
    first = [w for w, s in zip(words, segments, strict=True) if s == 0 and w is not None]
    shift = max(first, default=-1) + 1
    return replace(
        row,
        offsets=tuple(kept[number].offsets),
        segments=tuple(segments),
        word_ids=tuple(
            w + shift if s == 1 and w is not None else w
            for w, s in zip(words, segments, strict=True)
        ),
    )


def tokens_of(model: Model, rows: Sequence[Row]) -> list[Row]:
    """Rows of ids without padding, with token names; refused if they do not fit the model."""
    if not rows:
        raise InvalidInput("the batch is empty: there is nothing to explain.")
    check_ids(model, rows)
    checked = []
    for number, given in enumerate(rows):
        row = trimmed(given, model.pad_id)
        model.check_row_length(number, len(row))
        check_types(model, row, number)
        row = row if model.tokenizer is None else with_token_names(row, model.tokenizer)
        if model.task is Task.QUESTION and text_count(row) == 1:
            raise InvalidInput(
                "question answering needs a question and a context. Encode both: "
                "tokenizer(question, context)."
            )
        checked.append(paired(model, row))
    return checked


def check_types(model: Model, row: Row, number: int) -> None:
    """Refuse token types that the network does not take or has no embedding for."""
    largest = max(row.types or (0,))
    config = model.network.config.get_text_config()
    count = getattr(config, "type_vocab_size", None) or None
    if largest and not model.takes_types:
        raise InvalidInput(
            f"row {number} has the token type {largest}, and {model.name} takes no token types. "
            "Leave token_type_ids out."
        )
    if count is not None and largest >= count:
        raise InvalidInput(
            f"row {number} has the token type {largest}, and {model.name} knows {count}, "
            f"0 to {count - 1}."
        )


# ----------------------------------------------------------------------------------- targets


def targets_of(target: TargetLike | list[TargetLike], count: int) -> list[Target]:
    """One target per row; a list, a column or an array gives each row its own."""
    if hasattr(target, "tolist"):
        target = plain(target)
    if not isinstance(target, list):
        return [Target.of(target)] * count
    if len(target) != count:
        raise InvalidOption(
            f"{len(target)} targets were given for {count} inputs. Give one for each."
        )
    return [Target.of(item) for item in target]


def whole_number(value: Any, name: str, least: int) -> int:
    """The value of an option that must be a whole number of at least this size."""
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InvalidOption(
            f"{name}={value!r} is not possible. Use a whole number of {least} or more."
        )
    return value
