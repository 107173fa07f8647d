"""Examples with another answer as rows: the text, and where a language model chooses between both answers."""

from collections.abc import Sequence
from dataclasses import dataclass

from headlight.batch import Row
from headlight.data.example import Example
from headlight.errors import InvalidInput
from headlight.explaining.continuation import check_writes, continued
from headlight.explaining.inputs import rows_of
from headlight.models.model import Model
from headlight.models.reading import cut_to_limit
from headlight.target import Target
from headlight.units import unit_numbers, units_of


@dataclass(frozen=True)
class Contrasted:
    """A text with the tokens that both answers begin with, and the next token of one rather than the other."""

    row: Row
    target: Target


def contrasted_from(model: Model, example: Example) -> Contrasted:
    """Where the first answer and the other one part, after the text and a space."""
    check_writes(model)
    assert model.tokenizer is not None
    answers = (example.answers[0], example.rather_than)
    right, wrong = (
        model.tokenizer(f" {answer}", add_special_tokens=False)["input_ids"] for answer in answers
    )
    shared = parting(right, wrong)
    if shared is None:
        raise InvalidInput(
            f"the tokens of '{answers[0]}' and '{answers[1]}' are the same, or one begins with the other, so "
            "there is no token at which the model chooses."
        )
    row = cut_to_limit(model, rows_of(model, example.text)[0])
    if shared:
        row = continued(row, right[:shared], model.tokenizer)
    return Contrasted(row, Target(label=right[shared], contrast=wrong[shared]))


def parting(right: Sequence[int], wrong: Sequence[int]) -> int | None:
    """The first place at which both have a token and these differ; None if there is none."""
    pairs = enumerate(zip(right, wrong, strict=False))
    return next((place for place, (a, b) in pairs if a != b), None)


def word_numbers(row: Row, text: str) -> tuple[int | None, ...]:
    """The number of the word of each token of the text; None for special tokens and those of the answers."""
    assert row.offsets is not None
    found = unit_numbers(units_of(text, "words"), text, row.offsets)
    return tuple(None if s else n for n, s in zip(found, row.is_special, strict=True))


def deciding_word(example: Example) -> int | None:
    """The number of the word that is marked; None unless that is exactly one."""
    assert isinstance(example.text, str)
    starts = [start for _, start, _ in example.marks or ()]
    units = units_of(example.text, "words")
    found = {n for n, unit in enumerate(units) for at in starts if unit.start <= at < unit.end}
    return found.pop() if len(found) == 1 else None
