"""`explain_generation`: why a model wrote each token of a continuation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

from headlight.attribution import Attribution, Generation
from headlight.explaining.batches import run_goals
from headlight.explaining.continuation import (
    Writing,
    added_ids,
    check_writes,
    continuations_of,
    continued,
)
from headlight.explaining.inputs import Given, read
from headlight.explaining.plan import Method, is_several, planned
from headlight.models.model import Model
from headlight.target import Target

Generated = Generation | list[Generation]
"""One generation for one prompt, a list for several."""


@overload
def explain_generation(
    model: Model,
    prompt: str,
    method: Method | None = ...,
    *,
    continuation: str | list[str] | None = ...,
    max_new_tokens: int = ...,
    variant: str = ...,
    batch_size: int = ...,
    progress: bool = ...,
    **options: Any,
) -> Generation: ...
@overload
def explain_generation(
    model: Model,
    prompt: str,
    method: Sequence[Method],
    *,
    continuation: str | list[str] | None = ...,
    max_new_tokens: int = ...,
    variant: str = ...,
    batch_size: int = ...,
    progress: bool = ...,
    **options: Any,
) -> dict[str, Generation]: ...
@overload
def explain_generation(
    model: Model,
    prompt: list[str],
    method: Method | None = ...,
    *,
    continuation: str | list[str] | None = ...,
    max_new_tokens: int = ...,
    variant: str = ...,
    batch_size: int = ...,
    progress: bool = ...,
    **options: Any,
) -> list[Generation]: ...
@overload
def explain_generation(
    model: Model,
    prompt: list[str],
    method: Sequence[Method],
    *,
    continuation: str | list[str] | None = ...,
    max_new_tokens: int = ...,
    variant: str = ...,
    batch_size: int = ...,
    progress: bool = ...,
    **options: Any,
) -> dict[str, list[Generation]]: ...
@overload
def explain_generation(
    model: Model,
    prompt: Given,
    method: Method | Sequence[Method] | None = ...,
    *,
    continuation: str | list[str] | None = ...,
    max_new_tokens: int = ...,
    variant: str = ...,
    batch_size: int = ...,
    progress: bool = ...,
    **options: Any,
) -> Any: ...


def explain_generation(
    model: Model,
    prompt: Given,
    method: Method | Sequence[Method] | None = None,
    *,
    continuation: str | list[str] | None = None,
    max_new_tokens: int = 20,
    variant: str = "paper",
    batch_size: int = 32,
    progress: bool = False,
    **options: Any,
) -> Generated | Mapping[str, Generated]:
    """Explain every token of a continuation of the prompt: a matrix of input × output tokens.

    By default the continuation is what the model itself would write (greedily). One prompt gives one
    Generation, several give a list; several methods give a dict by method name, as in `explain`.
    """
    plan = planned(model, method, variant, options, batch_size, progress)
    check_writes(model)
    assert model.tokenizer is not None
    writing = Writing(max_new_tokens)
    asked = read(model, prompt)
    continuations = continuations_of(continuation, len(asked.rows))
    wholes = [
        continued(row, added_ids(model, row, text, writing), model.tokenizer)
        for row, text in zip(asked.rows, continuations, strict=True)
    ]
    # All tokens of a continuation share the pass over the whole: none of them sees what comes after it.
    goals = [
        [Target(span=(place, place)) for place in range(len(row), len(whole))]
        for row, whole in zip(asked.rows, wholes, strict=True)
    ]
    answers = run_goals(model, wholes, goals, plan)
    shaped: dict[str, Generated] = {}
    for entry in plan.entries:
        shaped[entry.name] = asked.shaped(
            [
                Generation(
                    row.tokens,
                    whole.tokens[len(row) :],
                    tuple(
                        until(found[entry.name], len(row) + step)
                        for step, found in enumerate(steps)
                    ),
                )
                for row, whole, steps in zip(asked.rows, wholes, answers, strict=True)
            ]
        )
    return shaped if is_several(method) else next(iter(shaped.values()))


def until(found: Attribution, count: int) -> Attribution:
    """The attribution of the first `count` tokens, without the text after them: nothing later has a score."""
    texts, offsets = found.texts, found.offsets
    if offsets is not None and texts:
        texts = (texts[0][: max(end for _, end in offsets[:count])],)
    return replace(
        found,
        tokens=found.tokens[:count],
        scores=found.scores[:count],
        is_special=found.is_special[:count],
        is_sink=found.is_sink[:count],
        texts=texts,
        offsets=None if offsets is None else offsets[:count],
        segments=None if found.segments is None else found.segments[:count],
        word_ids=None if found.word_ids is None else found.word_ids[:count],
    )
