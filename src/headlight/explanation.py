"""`explain`: encode → trace → methods → Attribution, batched, in the caller's order."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, overload

import torch

from headlight.attribution import Attribution, Generation
from headlight.batch import Text
from headlight.continuation import added_ids, continuations_of, continued, until
from headlight.errors import InvalidInput, InvalidOption
from headlight.inputs import Given, fitted, read, targets_of, whole_number
from headlight.methods import METHODS
from headlight.methods.attention import products
from headlight.models.model import Model, Task
from headlight.passes import buckets, run
from headlight.planning import ANYWHERE, planned
from headlight.registry import Entry
from headlight.shapes import Scores
from headlight.target import Target, TargetLike
from headlight.tokenmixing import TokenMixing
from headlight.trace.trace import Trace, trace
from headlight.windows import run_windows


@overload
def explain(
    model: Model,
    inputs: str | tuple[str, str],
    method: str | None = ...,
    target: TargetLike = ...,
    **options: Any,
) -> Attribution: ...
@overload
def explain(
    model: Model,
    inputs: list[Text],
    method: str | None = ...,
    target: TargetLike | list[TargetLike] = ...,
    **options: Any,
) -> list[Attribution]: ...
@overload
def explain(
    model: Model,
    inputs: list[Text],
    method: list[str],
    target: TargetLike | list[TargetLike] = ...,
    **options: Any,
) -> dict[str, list[Attribution]]: ...
@overload
def explain(
    model: Model,
    inputs: Given,
    method: str | list[str] | None = ...,
    target: TargetLike | list[TargetLike] = ...,
    **options: Any,
) -> Any: ...


def explain(
    model: Model,
    inputs: Given,
    method: str | list[str] | None = None,
    target: TargetLike | list[TargetLike] = None,
    *,
    variant: str = "paper",
    batch_size: int = 32,
    stride: int | None = None,
    progress: bool = False,
    **options: Any,
) -> Any:
    """Explain why the model decides what it decides on one input or many.

    inputs: a text, a pair of texts (a tuple), several of these in any order-keeping collection, what a
        tokenizer returns, or a `Batch`. One input, or one row of ids, gives one Attribution, several give
        a list in the same order. A text without anything in it is refused by its number, so that answers stay
        beside their inputs; to leave such texts out: [text for text in texts if text.strip()].
    method: a name of METHODS, or several; several give a dict by method name. NAME:OPTION=VALUE settles
        options of one of them, such as mask_lrp:corruption=0.5. None: attn_lrp where relevance passes
        through the network, else integrated_gradients; a note says which and why.
    target: what is explained (see `Target`); a list gives each input its own.
    variant: 'paper', or 'released' for what the authors' published code computes.
    stride: explain texts longer than the model's limit in windows that share this many tokens;
        without it they are cut, and the attribution says so.
    options: options of the methods, such as `seed`.
    """
    plan = planned(model, method, variant, options, batch_size, progress)
    asked = read(model, inputs)
    targets = targets_of(target, len(asked.rows))
    if stride is None:
        found = run(model, [fitted(model, row) for row in asked.rows], targets, plan)
    else:
        shared = whole_number(stride, "stride", 0)
        found = run_windows(model, asked.rows, targets, plan, shared)
    shaped = {e.name: asked.shaped([row[e.name] for row in found]) for e in plan.entries}
    return shaped if is_several(method) else next(iter(shaped.values()))


def explain_layers(
    model: Model,
    inputs: Given,
    method: str = "decoded_grad_cam",
    target: TargetLike | list[TargetLike] = None,
    *,
    layers: Sequence[int] | None = None,
    batch_size: int = 32,
    **options: Any,
) -> Any:
    """Explanations at several layers from one pass: a list by layer for one input, else a list of those.

    method: one that has the option `layer` (0 is the embedding output), one that is a sum over layers (each
        layer's part of it), or one of token-to-token matrices (their product up to each layer, read).
    layers: all of them if not given; 1 is the output of the first block.
    """
    plan = planned(model, one_name(method, "explain_layers"), "paper", options, batch_size, False)
    layers = chosen_layers(model, METHODS.specified(method), layers, options)
    (entry,) = plan.entries
    entries = tuple(at_layer(entry, layer) for layer in layers)
    asked = read(model, inputs)
    rows = [fitted(model, row) for row in asked.rows]
    found = run(model, rows, targets_of(target, len(rows)), replace(plan, entries=entries))
    answers = [
        [
            replace(a, method=entry.name, options={**a.options, "layer": layer})
            for layer, a in zip(layers, row.values(), strict=True)
        ]
        for row in found
    ]
    return asked.shaped(answers)


def has_layers(entry: Entry) -> bool:
    """Whether a method can be asked about one layer."""
    return "layer" in entry.options or entry.layered is not None or entry.mixing is not None


def chosen_layers(
    model: Model, entry: Entry, layers: Sequence[int] | None, options: Mapping[str, Any]
) -> Sequence[int]:
    """The layers asked for, or all that a method has; refused where it has none of these."""
    if "layer" in {**entry.settled, **options}:
        raise InvalidOption(
            "explain_layers explains several layers, so the option 'layer' has no place in it. "
            "Give layers=[…], or use explain."
        )
    if not has_layers(entry):
        known = ", ".join(name for name in METHODS if has_layers(METHODS[name]))
        raise InvalidOption(f"method '{entry.name}' has no layers to choose from. Use {known}.")
    count = model.network.config.get_text_config().num_hidden_layers
    known_layers = range(0 if "layer" in entry.options else 1, count + 1)
    for layer in layers or ():
        if layer not in known_layers:
            raise InvalidOption(
                f"layer {layer} does not exist for '{entry.name}': there are {known_layers[0]} to {count}."
            )
    return known_layers if layers is None else layers


def at_layer(entry: Entry, layer: int) -> Entry:
    """A method at one layer; what it makes for all layers is made once."""
    name = f"{entry.name}@{layer}"
    if "layer" in {**entry.options, **entry.settled}:
        return entry.with_options({"layer": layer}, name)

    def every(captured: Trace, options: Mapping[str, Any]) -> list[Scores]:
        if entry.layered is not None:
            return list(entry.layered(captured, **options))
        assert entry.mixing is not None
        return [captured.read(product) for product in products(entry.mixing(captured, **options))]

    @wraps(entry.function)
    def of_layer(captured: Trace, **options: Any) -> Scores:
        found: list[Scores] = captured.once(
            ("layers", entry.name), lambda: every(captured, options)
        )
        return found[layer - 1]

    return replace(entry, name=name, function=of_layer)


def is_several(method: str | list[str] | None) -> bool:
    """Whether answers are a dict by method; one method, or none, gives the answer itself."""
    return method is not None and not isinstance(method, str)


def one_name(method: Any, verb: str) -> str:
    """The one method that a verb takes."""
    if not isinstance(method, str):
        raise InvalidOption(f"{verb} takes one method by name, not {method!r}.")
    return method


def mix(
    model: Model,
    inputs: Given,
    method: str = "alti",
    *,
    batch_size: int = 8,
    **options: Any,
) -> Any:
    """How much of every token is in every other, layer by layer: a `TokenMixing` for each input.

    method: one that is made of such matrices: `rollout`, `alti`, `alti_ln2`, `norms`, `globenc`.
    """
    plan = planned(model, one_name(method, "mix"), "paper", options, batch_size, False)
    (entry,) = plan.entries
    if entry.mixing is None:
        known = ", ".join(name for name in METHODS if METHODS[name].mixing)
        raise InvalidOption(f"method '{entry.name}' has no token-to-token matrices. Use {known}.")
    asked = read(model, inputs)
    rows = [fitted(model, row) for row in asked.rows]
    found: dict[int, TokenMixing] = {}
    for bucket in buckets(model, rows, batch_size):
        captured = trace(
            model,
            [rows[n] for n in bucket],
            [ANYWHERE.get(model.task, Target())] * len(bucket),
            entry.needs,
        )
        layers = torch.stack(entry.mixing(captured, **entry.settled), 1).cpu().numpy()
        for number, matrices in zip(bucket, layers, strict=True):
            size = len(rows[number])
            found[number] = TokenMixing(
                rows[number].tokens,
                matrices[:, :size, :size],
                entry.name,
                model.name,
                entry.settled,
            )
    return asked.shaped([found[n] for n in range(len(rows))])


@overload
def explain_generation(
    model: Model, prompt: str, method: str | None = ..., **options: Any
) -> Generation: ...
@overload
def explain_generation(
    model: Model, prompt: Given, method: str | list[str] | None = ..., **options: Any
) -> Any: ...


def explain_generation(
    model: Model,
    prompt: Given,
    method: str | list[str] | None = None,
    *,
    continuation: str | list[str] | None = None,
    max_new_tokens: int = 20,
    variant: str = "paper",
    batch_size: int = 32,
    progress: bool = False,
    **options: Any,
) -> Any:
    """Explain every token of a continuation of the prompt: a matrix of input × output tokens.

    The continuation is the one given, or what the model itself would write (greedily). One prompt gives
    one Generation, several a list; several methods give a dict by method name, as in `explain`.
    """
    plan = planned(model, method, variant, options, batch_size, progress)
    if model.task is not Task.CAUSAL or model.tokenizer is None:
        raise InvalidInput(
            f"only a causal language model with a tokenizer continues a text; {model.name} does {model.task}."
        )
    asked = read(model, prompt)
    given = continuations_of(continuation, len(asked.rows))
    wholes = [
        continued(row, added_ids(model, row, text, max_new_tokens), model.tokenizer)
        for row, text in zip(asked.rows, given, strict=True)
    ]
    places = [
        (n, place)
        for n, whole in enumerate(wholes)
        for place in range(len(asked.rows[n]), len(whole))
    ]
    found = run(
        model,
        [until(wholes[n], place) for n, place in places],
        [Target(label=wholes[n].ids[place]) for n, place in places],
        plan,
    )
    shaped = {}
    for entry in plan.entries:
        steps: list[list[Attribution]] = [[] for _ in wholes]
        for (n, _), answer in zip(places, found, strict=True):
            steps[n].append(answer[entry.name])
        shaped[entry.name] = asked.shaped(
            [
                Generation(row.tokens, whole.tokens[len(row) :], tuple(made))
                for row, whole, made in zip(asked.rows, wholes, steps, strict=True)
            ]
        )
    return shaped if is_several(method) else next(iter(shaped.values()))
