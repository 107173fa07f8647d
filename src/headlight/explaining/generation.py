"""`explain_generation`: why a model wrote each token of a continuation."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

from headlight.attribution import Attribution, Generation
from headlight.errors import InvalidInput
from headlight.explaining.batches import run
from headlight.explaining.continuation import added_ids, continuations_of, continued, until
from headlight.explaining.inputs import Given, read
from headlight.explaining.plan import Method, is_several, planned
from headlight.models.model import Model, Task
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
    if model.task is not Task.CAUSAL or model.tokenizer is None:
        raise InvalidInput(
            f"only a causal language model with a tokenizer continues a text; {model.name} does {model.task}."
        )
    asked = read(model, prompt)
    continuations = continuations_of(continuation, len(asked.rows))
    wholes = [
        continued(row, added_ids(model, row, text, max_new_tokens), model.tokenizer)
        for row, text in zip(asked.rows, continuations, strict=True)
    ]
    places = [
        (n, place)
        for n, whole in enumerate(wholes)
        for place in range(len(asked.rows[n]), len(whole))
    ]
    answers = run(
        model,
        [until(wholes[n], place) for n, place in places],
        [Target(label=wholes[n].ids[place]) for n, place in places],
        plan,
    )
    shaped: dict[str, Generated] = {}
    for entry in plan.entries:
        steps: list[list[Attribution]] = [[] for _ in wholes]
        for (n, _), answer in zip(places, answers, strict=True):
            steps[n].append(answer[entry.name])
        shaped[entry.name] = asked.shaped(
            [
                Generation(row.tokens, whole.tokens[len(row) :], tuple(made))
                for row, whole, made in zip(asked.rows, wholes, steps, strict=True)
            ]
        )
    return shaped if is_several(method) else next(iter(shaped.values()))
