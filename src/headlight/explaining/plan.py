"""From names and options to a `Plan`: everything in it is checked before a network runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from headlight.amounts import bytes_of
from headlight.errors import HeadlightError, InvalidInput, InvalidOption
from headlight.explaining.choices import CHOICES, chosen, depends_on_model
from headlight.explaining.inputs import whole_number
from headlight.methods import METHODS
from headlight.models.model import Model, Task
from headlight.registry.entries import FALLBACK, PREFERRED, Entry, Specification, check_given
from headlight.registry.options import options_of
from headlight.target import Target

Method = str | Specification
"""How a method is named: NAME, NAME:OPTION=VALUE, or `headlight.using.name(option=value)`."""

ANYWHERE = {Task.TOKEN: Target(position=0), Task.MASKED: Target(position=0)}
"""Targets of passes whose target does not matter, for tasks whose targets need a position."""


@dataclass(frozen=True)
class Plan:
    """What to compute for every row: methods with their variants and all their options settled.

    note: added to every attribution. digits: a note on the precision in which they were computed. memory: the
    most bytes that a pass may take above the weights; None for what is free.
    """

    entries: tuple[Entry, ...]
    batch_size: int = 32
    progress: bool = False
    note: str = ""
    digits: str = ""
    memory: int | None = None

    @property
    def needs(self) -> set[str]:
        """The union of what the methods need from the trace."""
        return {need for entry in self.entries for need in entry.needs}

    @property
    def is_released(self) -> bool:
        """Whether these are released variants, which predict answers as the authors' code does."""
        return any(entry.variant == "released" for entry in self.entries)

    def only(self, *entries: Entry) -> "Plan":
        """The same plan with only these methods."""
        return replace(self, entries=entries)


def planned(
    model: Model,
    method: Method | Sequence[Method] | None,
    variant: str = "paper",
    options: Mapping[str, Any] | None = None,
    batch_size: int = 32,
    progress: bool = False,
) -> Plan:
    """A plan; refused if a name or option in it does not exist or does not fit.

    variant: that of methods whose names settle none. Besides those of methods, the options may bound the memory
    of a pass (`memory`).
    """
    check_model(model)
    given = dict(options or {})
    memory = bytes_of(given.pop("memory", None))
    batch_size = whole_number(batch_size, "batch_size", 1)
    note = ""
    if method is None:
        method, note = default_method(model)
    specified = (METHODS.specified(name).in_variant(variant) for name in names_of(method))
    asked = {entry.name: entry for entry in specified}
    check_given(tuple(asked.values()), given)
    choose = cache(partial(chosen, model, given))
    entries = tuple(completed(settled(model, e), given, choose) for e in asked.values())
    return Plan(entries, batch_size, progress, note, memory=memory)


def check_model(model: object) -> None:
    """Refuse what is no model of headlight."""
    if not isinstance(model, Model):
        raise InvalidInput(
            f"a headlight model comes first, not a {type(model).__name__}. "
            "Make one with headlight.wrap(network, tokenizer) or headlight.load(name)."
        )


def names_of(method: Method | Sequence[Method]) -> list[Method]:
    """A list of names, from one name or several; refused if it is empty or a name is not text."""
    names = (
        list(method) if isinstance(method, Iterable) and not isinstance(method, str) else [method]
    )
    if not names:
        raise InvalidOption("method=[] asks for nothing. Give a name or a list of names.")
    for name in names:
        if not isinstance(name, str | Specification):
            raise InvalidOption(
                f"method={name!r} is not understood. Give a name or a list of names."
            )
    return names


def is_several(method: Method | Sequence[Method] | None) -> bool:
    """Whether answers are a dict by method; one method, or the default, gives the answer itself."""
    return method is not None and not isinstance(method, str | Specification)


def one_name(method: Any, verb: str) -> Method:
    """The one method that a function takes; several are refused."""
    if not isinstance(method, str | Specification):
        raise InvalidOption(f"{verb} takes one method by name, not {method!r}.")
    return method


def check_paper(entry: Entry, verb: str) -> None:
    """Refuse the released variant where only what the paper writes is known layer by layer."""
    if entry.variant == "released":
        raise InvalidOption(
            f"{verb} follows the paper only, and '{entry.name}' is the released variant. Leave variant= out."
        )


def known_options(
    methods: Iterable[Method], options: Mapping[str, Any], variant: str = "paper"
) -> dict[str, Any]:
    """The options that at least one of the methods has; variant: that of methods whose names settle none."""
    entries = (METHODS.specified(method).in_variant(variant) for method in methods)
    known = {option for entry in entries for option in entry.options}
    return {name: value for name, value in options.items() if name in known}


def completed(entry: Entry, given: Mapping[str, Any], choose: Callable[[str], Any]) -> Entry:
    """The method with the options of a call, and those that the model decides."""
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
    own = {**options, **{name: choose(name) for name in depend}}
    return with_needs_of_base(entry.with_options(own, entry.name))


def with_needs_of_base(entry: Entry) -> Entry:
    """A method that is built on another one, with what that one needs, its sign and its rules."""
    base = entry.settled.get("base")
    if not isinstance(base, Entry):
        return entry
    preset = base.preset_with({})
    return replace(entry, needs=entry.needs | base.needs, signed=base.signed, preset=preset)


def methods_for(model: Model) -> list[str]:
    """All methods that work on this model without options; others need a head mask, or a decoder.

    The registry says which options a method requires; each is looked up once.
    """
    has = cache(partial(settles, model))
    return [
        name
        for name in METHODS
        if all(
            has(option.name) for option in METHODS[name].options.values() if not option.has_default
        )
    ]


def settles(model: Model, option: str) -> bool:
    """Whether a model has its own value for an option without a default."""
    if option not in CHOICES:
        return False
    try:
        chosen(model, {}, option)
    except HeadlightError:
        return False
    return True


def settled(model: Model, entry: Entry) -> Entry:
    """The method with the options of NAME:OPTION=VALUE looked up for this model, such as a mask's file."""
    known = options_of(entry.computing)
    depend = [name for name in entry.settled if depends_on_model(known[name])]
    options = {name: chosen(model, entry.settled, name) for name in depend}
    return entry.with_options(options, entry.name)


# ---------------------------------------------------------------------------- default method


def default_method(model: Model) -> tuple[str, str]:
    """The method of a call that names none, and a note that says so."""
    if not model.modified_refusal:
        return PREFERRED, f"no method was named, so {PREFERRED} was used"
    return (
        FALLBACK,
        f"no method was named, so {FALLBACK} was used: {PREFERRED} does not explain this network "
        f"({model.modified_refusal})",
    )
