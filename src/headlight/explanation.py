"""`explain`: encode → trace → methods → Attribution, batched, in the caller's order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from typing import Any, overload

import torch

from headlight.attribution import Attribution, Generation
from headlight.batch import Text
from headlight.continuation import added_ids, continuations_of, continued, until
from headlight.decoders import chosen_decoder, chosen_layer
from headlight.errors import InvalidInput, InvalidOption
from headlight.heads.masks import chosen_mask
from headlight.inputs import Given, fitted, read, targets_of, whole_number
from headlight.methods import METHODS
from headlight.methods.attention import products
from headlight.models.model import Model, Task
from headlight.passes import Plan, buckets, run
from headlight.registry import Entry, parse_specification
from headlight.shapes import Scores
from headlight.target import Target, TargetLike
from headlight.tokenmixing import TokenMixing
from headlight.trace.baselines import chosen_baseline
from headlight.trace.trace import Trace, trace
from headlight.windows import run_windows

DEFAULT_METHOD = "attcat"
ANYWHERE = {Task.TOKEN: Target(position=0), Task.MASKED: Target(position=0)}
"""Targets of passes whose target does not matter, for tasks that must be told where to look."""

CHOSEN: dict[str, tuple[Callable[[Model, Any], Any], Any]] = {
    "mask": (chosen_mask, "both"),
    "baseline": (chosen_baseline, None),
    "decoder": (chosen_decoder, None),
    "layer": (chosen_layer, None),
}
"""Options that depend on the model: what finds them, and what is meant where nothing is said."""


@overload
def explain(
    model: Model,
    inputs: str | tuple[str, str],
    method: str = ...,
    target: TargetLike = ...,
    **options: Any,
) -> Attribution: ...
@overload
def explain(
    model: Model,
    inputs: list[Text],
    method: str = ...,
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
    method: str | list[str] = ...,
    target: TargetLike | list[TargetLike] = ...,
    **options: Any,
) -> Any: ...


def explain(
    model: Model,
    inputs: Given,
    method: str | list[str] = DEFAULT_METHOD,
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
        a list in the same order.
    method: a name of METHODS, or several; several give a dict by method name. NAME:OPTION=VALUE settles
        options of one of them, such as mask_lrp:corruption=0.5.
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
    return next(iter(shaped.values())) if isinstance(method, str) else shaped


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
    plan = planned(model, method, "paper", options, batch_size, False)
    (entry,) = plan.entries
    layers = chosen_layers(model, entry, layers)
    others = {name: value for name, value in plan.options.items() if name != "layer"}
    entries = tuple(
        replace(entry, name=f"{entry.name}@{layer}", function=at_layer(entry, layer))
        for layer in layers
    )
    asked = read(model, inputs)
    rows = [fitted(model, row) for row in asked.rows]
    found = run(
        model, rows, targets_of(target, len(rows)), replace(plan, entries=entries, options=others)
    )
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


def chosen_layers(model: Model, entry: Entry, layers: Sequence[int] | None) -> Sequence[int]:
    """The layers asked for, or all that a method has; refused where it has none of these."""
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


def at_layer(entry: Entry, layer: int) -> Callable[..., Any]:
    """A method at one layer; what it makes for all layers is made once."""
    if "layer" in entry.options:
        return partial(entry.function, layer=layer)

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

    return of_layer


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
    plan = planned(model, method, "paper", options, batch_size, False)
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
        layers = torch.stack(entry.mixing(captured, **plan.options_of(entry)), 1).cpu().numpy()
        for number, matrices in zip(bucket, layers, strict=True):
            size = len(rows[number])
            found[number] = TokenMixing(
                rows[number].tokens,
                matrices[:, :size, :size],
                entry.name,
                model.name,
                plan.options_of(entry),
            )
    return asked.shaped([found[n] for n in range(len(rows))])


@overload
def explain_generation(
    model: Model, prompt: str, method: str = ..., **options: Any
) -> Generation: ...
@overload
def explain_generation(
    model: Model, prompt: Given, method: str | list[str] = ..., **options: Any
) -> Any: ...


def explain_generation(
    model: Model,
    prompt: Given,
    method: str | list[str] = DEFAULT_METHOD,
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
    return next(iter(shaped.values())) if isinstance(method, str) else shaped


# ---------------------------------------------------------------------------------- planning


def planned(
    model: Model,
    method: str | list[str],
    variant: str,
    options: Mapping[str, Any],
    batch_size: int,
    progress: bool,
) -> Plan:
    """A plan, once every name and option in it is known to exist."""
    if not isinstance(model, Model):
        raise InvalidInput(
            f"a headlight model comes first, not a {type(model).__name__}. "
            "Make one with headlight.wrap(network, tokenizer) or headlight.load(name)."
        )
    names = [method] if isinstance(method, str) else list(method)
    if not names:
        raise InvalidOption("method=[] asks for nothing. Give a name or a list of names.")
    if batch_size < 1:
        raise InvalidOption(f"batch_size={batch_size} is not possible. Use 1 or more.")
    found = [specified(model, name) for name in names]
    entries = tuple({entry.name: entry for entry in found}.values())
    for entry in entries:
        entry.variant(variant)
    for name in options:
        if not any(name in entry.options for entry in entries):
            raise unknown_option(name, entries)
    for name, (choose, default) in CHOSEN.items():
        if any(name in entry.options for entry in entries):
            options = {**options, name: choose(model, options.get(name, default))}
    return Plan(entries, variant, options, batch_size, progress)


def specified(model: Model, name: str) -> Entry:
    """The method of NAME, or of NAME:OPTION=VALUE with those options settled."""
    name, options = parse_specification(name)
    entry = METHODS[name]
    if not options:
        return entry
    for option in options:
        if option not in entry.options:
            raise unknown_option(option, [entry])
        if option in CHOSEN:
            options[option] = CHOSEN[option][0](model, options[option])
    shown = ",".join(f"{option}={value}" for option, value in options.items())
    return entry.with_options(f"{entry.name}:{shown}", options)


def unknown_option(option: str, entries: Sequence[Entry]) -> InvalidOption:
    """The error for an option that none of these methods has."""
    has = ", ".join(sorted({o for entry in entries for o in entry.options})) or "none"
    asked = ", ".join(f"'{entry.name}'" for entry in entries)
    return InvalidOption(f"method {asked} has no option '{option}'. Options there are: {has}.")
