"""`explain_layers`: explanations at every layer, from one pass."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import wraps
from typing import Any, overload

from headlight.attribution import Attribution
from headlight.batch import Text
from headlight.errors import InvalidOption
from headlight.explaining.batches import run
from headlight.explaining.inputs import Given, read, targets_of
from headlight.explaining.plan import Method, check_paper, one_name, planned
from headlight.methods import METHODS
from headlight.methods.attention import running_products
from headlight.models.model import Model
from headlight.models.reading import cut_to_limit
from headlight.registry.entries import Entry
from headlight.shapes import Scores
from headlight.target import TargetLike
from headlight.trace.trace import Trace


@overload
def explain_layers(
    model: Model,
    inputs: str | tuple[str, str],
    method: Method = ...,
    target: TargetLike = ...,
    *,
    layers: Sequence[int] | None = ...,
    batch_size: int = ...,
    **options: Any,
) -> list[Attribution]: ...
@overload
def explain_layers(
    model: Model,
    inputs: list[Text] | list[str] | list[tuple[str, str]],
    method: Method = ...,
    target: TargetLike | list[TargetLike] = ...,
    *,
    layers: Sequence[int] | None = ...,
    batch_size: int = ...,
    **options: Any,
) -> list[list[Attribution]]: ...
@overload
def explain_layers(
    model: Model,
    inputs: Given,
    method: Method = ...,
    target: TargetLike | list[TargetLike] = ...,
    *,
    layers: Sequence[int] | None = ...,
    batch_size: int = ...,
    **options: Any,
) -> Any: ...


def explain_layers(
    model: Model,
    inputs: Given,
    method: Method = "decoded_grad_cam",
    target: TargetLike | list[TargetLike] = None,
    *,
    layers: Sequence[int] | None = None,
    batch_size: int = 32,
    **options: Any,
) -> list[Attribution] | list[list[Attribution]]:
    """Explanations at several layers from one pass: a list by layer for one input, a list of those for several.

    method: one with the option `layer` (0 is the embedding output), one that is a sum over layers (each layer's
        part is given), or one of token-to-token matrices (their product up to each layer, read).
    layers: by default all; 1 is the output of the first block.
    """
    plan = planned(model, one_name(method, "explain_layers"), "paper", options, batch_size, False)
    layers = chosen_layers(model, METHODS.specified(method), layers, options)
    (entry,) = plan.entries
    check_paper(entry, "explain_layers")
    entries = tuple(at_layer(entry, layer) for layer in layers)
    asked = read(model, inputs)
    rows = [cut_to_limit(model, row) for row in asked.rows]
    by_row = run(model, rows, targets_of(target, len(rows)), replace(plan, entries=entries))
    answers = [
        [
            replace(a, method=entry.name, options={**a.options, "layer": layer})
            for layer, a in zip(layers, row.values(), strict=True)
        ]
        for row in by_row
    ]
    return answers[0] if asked.is_one else answers


def has_layers(entry: Entry) -> bool:
    """Whether a method can explain one layer."""
    return "layer" in entry.options or entry.layered is not None or entry.mixing is not None


def chosen_layers(
    model: Model, entry: Entry, layers: Sequence[int] | None, options: Mapping[str, Any]
) -> Sequence[int]:
    """The layers asked for, by default all of the method; refused if it does not have them."""
    if "layer" in {**entry.settled, **options}:
        raise InvalidOption(
            "explain_layers explains several layers, so it does not take the option 'layer'. "
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
    """A method at one layer; what it computes for all layers is computed once."""
    name = f"{entry.name}@{layer}"
    if "layer" in {**entry.options, **entry.settled}:
        return entry.with_options({"layer": layer}, name)

    def all_layers(captured: Trace, options: Mapping[str, Any]) -> list[Scores]:
        if entry.layered is not None:
            return list(entry.layered(captured, **options))
        assert entry.mixing is not None
        return [
            captured.read(product)
            for product in running_products(entry.mixing(captured, **options))
        ]

    @wraps(entry.function)
    def of_layer(captured: Trace, **options: Any) -> Scores:
        scores: list[Scores] = captured.once(
            ("layers", entry.name), lambda: all_layers(captured, options)
        )
        return scores[layer - 1]

    return replace(entry, name=name, function=of_layer)
