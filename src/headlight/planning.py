"""From names and options to a plan: everything in it is known to exist before a network runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from weakref import WeakKeyDictionary

from headlight.decoders import chosen_decoder, chosen_layer
from headlight.errors import HeadlightError, InvalidInput, InvalidOption
from headlight.heads.masks import chosen_mask
from headlight.inputs import whole_number
from headlight.methods import METHODS
from headlight.models.model import Model, Task
from headlight.options import Option, options_of
from headlight.passes import Plan, run_bucket
from headlight.registry import FALLBACK, PREFERRED, Entry, check_given
from headlight.target import Target
from headlight.trace.baselines import chosen_baseline
from headlight.trace.probing import probe_rows

ANYWHERE = {Task.TOKEN: Target(position=0), Task.MASKED: Target(position=0)}
"""Targets of passes whose target does not matter, for tasks that must be told where to look."""


@dataclass(frozen=True)
class Choice:
    """An option that depends on the model: what finds it, and what it is where nothing is said."""

    choose: Callable[[Model, Any], Any]
    usually: str
    unsaid: Any = None


CHOSEN = {
    "mask": Choice(chosen_mask, "the mask that comes with an embedded model", "both"),
    "baseline": Choice(
        chosen_baseline, "the mask token if the model has one, else the mean of its word embeddings"
    ),
    "decoder": Choice(chosen_decoder, "the model's own language-model head, or the embedded one"),
    "layer": Choice(chosen_layer, "the best one of an embedded model, else the middle one"),
}
"""Options that a method may leave without a default, because it depends on the model."""


def planned(
    model: Model,
    method: str | Sequence[str] | None,
    variant: str,
    options: Mapping[str, Any],
    batch_size: int,
    progress: bool,
) -> Plan:
    """A plan, once every name and option in it is known to exist and to fit."""
    if not isinstance(model, Model):
        raise InvalidInput(
            f"a headlight model comes first, not a {type(model).__name__}. "
            "Make one with headlight.wrap(network, tokenizer) or headlight.load(name)."
        )
    batch_size = whole_number(batch_size, "batch_size", 1)
    note = ""
    if method is None:
        method, note = default_method(model)
    asked = {entry.name: entry for entry in map(METHODS.specified, names_of(method))}
    check_given(tuple(asked.values()), options)
    for entry in asked.values():
        entry.variant(variant)
    decide = cache(partial(decided, model, options))
    entries = tuple(completed(settled(model, e), options, decide) for e in asked.values())
    return Plan(entries, variant, batch_size, progress, note)


def names_of(method: str | Sequence[str]) -> list[str]:
    """The names in one or several; refused if there is none, or one is not a text."""
    names = (
        list(method) if isinstance(method, Iterable) and not isinstance(method, str) else [method]
    )
    if not names:
        raise InvalidOption("method=[] asks for nothing. Give a name or a list of names.")
    for name in names:
        if not isinstance(name, str):
            raise InvalidOption(
                f"method={name!r} is not understood. Give a name or a list of names."
            )
    return names


def completed(entry: Entry, given: Mapping[str, Any], decide: Callable[[str], Any]) -> Entry:
    """The method with every option that a call gives it, and those that the model decides."""
    depend = [name for name, option in entry.options.items() if depends_on_model(option)]
    options = {
        name: option.checked(given[name], entry.name)
        for name, option in entry.options.items()
        if name in given and not (given[name] is None and name in depend)
    }
    for name, option in entry.options.items():
        if not option.has_default and name not in {*options, *depend}:
            raise InvalidOption(
                f"'{entry.name}' needs the option '{name}'. Give {name}= {option.takes}."
            )
    return entry.with_options({**options, **{name: decide(name) for name in depend}}, entry.name)


def depends_on_model(option: Option) -> bool:
    """Whether the model decides what an option is where nothing is said."""
    return option.name in CHOSEN and not option.has_default


def settled(model: Model, entry: Entry) -> Entry:
    """The method with what NAME:OPTION=VALUE names turned into what this model takes, such as a mask's file."""
    known = options_of(entry.function)
    depend = [name for name in entry.settled if depends_on_model(known[name])]
    chosen = {name: decided(model, entry.settled, name) for name in depend}
    return entry.with_options(chosen, entry.name)


def decided(model: Model, given: Mapping[str, Any], name: str) -> Any:
    """An option that depends on the model, from what was given for it, or from nothing."""
    choice = CHOSEN[name]
    value = given.get(name)
    return choice.choose(model, choice.unsaid if value is None else value)


# ---------------------------------------------------------------------------- default method

OBSTACLES: "WeakKeyDictionary[Model, str]" = WeakKeyDictionary()
"""Why relevance does not pass through a model; '' where it does. Asked once for each."""


def default_method(model: Model) -> tuple[str, str]:
    """The method of a call that names none, and a note that says so."""
    obstacle = relevance_obstacle(model)
    if not obstacle:
        return PREFERRED, f"no method was named, so {PREFERRED} was used"
    return (
        FALLBACK,
        f"no method was named, so {FALLBACK} was used: {PREFERRED} does not explain this network "
        f"({obstacle})",
    )


def relevance_obstacle(model: Model) -> str:
    """Why the preferred method fails on a short probe of the model, or '' if it does not."""
    if model.relevance_refusal:
        return model.relevance_refusal
    if model not in OBSTACLES:
        rows = list(probe_rows(model)[:1])
        target = ANYWHERE.get(model.task, Target())
        try:
            run_bucket(model, rows, [target] * len(rows), Plan((METHODS[PREFERRED],)))
            OBSTACLES[model] = ""
        # torch itself refuses some sweeps, such as one through a value that is changed in place.
        except (HeadlightError, RuntimeError) as error:
            OBSTACLES[model] = str(error).strip().split("\n")[0].rstrip(".")
    return OBSTACLES[model]
