"""Questions with sources as rows: the prompt that holds them, and the answer that is explained."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from headlight.answer import Answer, Numbers
from headlight.attribution import Attribution
from headlight.batch import Row
from headlight.data.example import Example
from headlight.errors import InvalidOption
from headlight.explaining.ablated import ablatable, ablated, calls_of, entry_of, is_ablation
from headlight.explaining.continuation import Writing, check_writes, continued
from headlight.explaining.prompts import Prompt, prompts_of
from headlight.explaining.written import Written, written
from headlight.models.model import Model
from headlight.units import unit_numbers

MOST_WRITTEN = 32
"""How many tokens a model writes at most as its own answer."""


def prompt_from(model: Model, example: Example) -> Prompt:
    """The question with its sources, as the template of `explain_answer` puts them together."""
    assert isinstance(example.text, str)
    check_writes(model)
    (prompt,), _ = prompts_of(model, example.text, list(example.sources))
    return prompt


def written_from(model: Model, example: Example, *, is_gold: bool) -> Written:
    """A question and its answer: the right one, or what the model itself writes."""
    if is_gold and not example.answers:
        raise InvalidOption(
            "the question has no answer to explain. Use explain='predicted' instead of 'gold'."
        )
    prompt = prompt_from(model, example)
    given = f" {example.answers[0]}" if is_gold else None
    return written(model, prompt, given, Writing(MOST_WRITTEN))


def written_again(model: Model, example: Example, ids: Sequence[int]) -> Written:
    """A question and the answer with which it was explained, from the tokens of both."""
    prompt = prompt_from(model, example)
    assert model.tokenizer is not None
    added = list(ids[len(prompt.row) :])
    return Written(prompt, continued(prompt.row, added, model.tokenizer))


def source_numbers(made: Written) -> tuple[int | None, ...]:
    """The number of the source of each token, None for those in none: the question and the answer."""
    row, prompt = made.row, made.prompt
    assert row.offsets is not None
    found = unit_numbers(prompt.known["sources"], prompt.text, row.offsets)
    return tuple(None if s else n for n, s in zip(found, row.is_special, strict=True))


def ablations_in(methods: Sequence[str]) -> list[str]:
    """The methods that remove whole sources."""
    return [method for method in methods if is_ablation(method)]


def ablated_sources(
    model: Model,
    example: Example,
    ids: Sequence[int],
    methods: Sequence[str],
    options: Mapping[str, Any],
) -> dict[str, Attribution]:
    """The scores of ablations by name; that of a source is spread evenly over its tokens."""
    made = written_again(model, example, ids)
    entries = calls_of(list(methods), known_to(methods, options)).ablations
    text = ablatable(made, [made.whole], "sources")
    numbers, found = source_numbers(made), ablated(model, text, entries)
    sizes = np.bincount([number for number in numbers if number is not None])
    return {
        name: on_tokens(answer, made.row, spread(answer.scores[0] / sizes, numbers))
        for name, answer in found.items()
    }


def on_tokens(answer: Answer, row: Row, scores: Numbers) -> Attribution:
    """The answer of an ablation as an attribution of the tokens of its row."""
    return Attribution(
        tokens=row.tokens,
        scores=scores,
        target=answer.attribution().target,
        method=answer.method,
        model=answer.model,
        signed=answer.signed,
        is_special=row.is_special,
        is_sink=(False,) * len(row),
        texts=row.texts,
        offsets=row.offsets,
        segments=row.segments,
        word_ids=row.word_ids,
        options=answer.options,
        versions=answer.versions,
    )


def known_to(methods: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options that at least one of the methods has."""
    known = {option for method in methods for option in entry_of(method).options}
    return {name: value for name, value in options.items() if name in known}


def spread(shares: Numbers, numbers: Sequence[int | None]) -> Numbers:
    """For each token the share of its source; 0 for those in none."""
    return np.array([0.0 if number is None else shares[number] for number in numbers])
