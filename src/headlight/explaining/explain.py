"""`explain`: inputs → plan → batches → attributions, in the caller's order."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

from headlight.attribution import Attribution
from headlight.batch import Text
from headlight.explaining.batches import run
from headlight.explaining.inputs import Given, read, targets_of, whole_number
from headlight.explaining.long_texts import run_windows
from headlight.explaining.plan import Method, is_several, planned
from headlight.models.model import Model
from headlight.models.reading import cut_to_limit
from headlight.target import TargetLike

Explanation = Attribution | list[Attribution]
"""One attribution for one input, a list for several."""


@overload
def explain(
    model: Model,
    inputs: str | tuple[str, str],
    method: Method | None = ...,
    target: TargetLike = ...,
    *,
    variant: str = ...,
    batch_size: int = ...,
    stride: int | None = ...,
    progress: bool = ...,
    **options: Any,
) -> Attribution: ...
@overload
def explain(
    model: Model,
    inputs: str | tuple[str, str],
    method: Sequence[Method],
    target: TargetLike = ...,
    *,
    variant: str = ...,
    batch_size: int = ...,
    stride: int | None = ...,
    progress: bool = ...,
    **options: Any,
) -> dict[str, Attribution]: ...
@overload
def explain(
    model: Model,
    inputs: list[Text] | list[str] | list[tuple[str, str]],
    method: Method | None = ...,
    target: TargetLike | list[TargetLike] = ...,
    *,
    variant: str = ...,
    batch_size: int = ...,
    stride: int | None = ...,
    progress: bool = ...,
    **options: Any,
) -> list[Attribution]: ...
@overload
def explain(
    model: Model,
    inputs: list[Text] | list[str] | list[tuple[str, str]],
    method: Sequence[Method],
    target: TargetLike | list[TargetLike] = ...,
    *,
    variant: str = ...,
    batch_size: int = ...,
    stride: int | None = ...,
    progress: bool = ...,
    **options: Any,
) -> dict[str, list[Attribution]]: ...
@overload
def explain(
    model: Model,
    inputs: Given,
    method: Method | Sequence[Method] | None = ...,
    target: TargetLike | list[TargetLike] = ...,
    *,
    variant: str = ...,
    batch_size: int = ...,
    stride: int | None = ...,
    progress: bool = ...,
    **options: Any,
) -> Any: ...


def explain(
    model: Model,
    inputs: Given,
    method: Method | Sequence[Method] | None = None,
    target: TargetLike | list[TargetLike] = None,
    *,
    variant: str = "paper",
    batch_size: int = 32,
    stride: int | None = None,
    progress: bool = False,
    **options: Any,
) -> Explanation | Mapping[str, Explanation]:
    """Explain why the model decides what it decides on one input or many.

    For texts, lists of texts and names of methods, a type checker knows the type of the result. For a batch or
    an encoding it does not, because one row gives one attribution and several give a list.

    inputs: a text, a pair of texts (a tuple), several of these in any ordered collection, what a tokenizer
        returns, or a `Batch`. One input, or one row of ids, gives one Attribution, several give a list in
        the same order. An empty text is refused, and the error gives its number. To leave such texts out:
        [text for text in texts if text.strip()].
    method: a name in METHODS, or several; several give a dict by method name. NAME:OPTION=VALUE sets options
        of one method, such as mask_lrp:corruption=0.5. By default attn_lrp if relevance can be sent through
        the network, else integrated_gradients; a note says which and why.
    target: what is explained (see `Target`); a list gives each input its own.
    variant: 'paper', or 'released' for what the authors' published code computes; that of methods whose names
        do not settle it, as "mask_lrp:variant=released" does.
    stride: explain texts longer than the model's limit in windows that share this many tokens;
        without it they are cut, and the attribution says so.
    options: options of the methods, such as `seed`; and memory, the most that a pass may take above the
        weights, such as "3GB" (by default what is free): blocks of a text that would take more are computed
        again on the way back, and a text that does not fit even so is refused.
    """
    plan = planned(model, method, variant, options, batch_size, progress)
    asked = read(model, inputs)
    targets = targets_of(target, len(asked.rows))
    if stride is None:
        answers = run(model, [cut_to_limit(model, row) for row in asked.rows], targets, plan)
    else:
        shared = whole_number(stride, "stride", 0)
        answers = run_windows(model, asked.rows, targets, plan, shared)
    shaped: dict[str, Explanation] = {
        e.name: asked.shaped([row[e.name] for row in answers]) for e in plan.entries
    }
    return shaped if is_several(method) else next(iter(shaped.values()))
