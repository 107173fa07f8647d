"""One registry class for everything that is looked up by name."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Any, Generic, Literal, Protocol, TypeVar

from headlight.errors import InvalidOption, unknown_name
from headlight.registry.options import Option, options_of

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)
N = TypeVar("N", bound="Named")
VARIANT = "variant"
"""What every name may settle besides options, as in mask_lrp:variant=released."""
PREFERRED, FALLBACK = "attn_lrp", "integrated_gradients"
"""The default methods: the first if relevance can be sent through the network, otherwise the second."""


@dataclass(frozen=True)
class Entry:
    """One registered function and what is known about it.

    `released` computes what the authors' published code computes, if that differs from the paper; its
    docstring says what differs. `variant` says which of the two is meant, 'paper' or 'released'; '' is decided
    by the call, see `in_variant`. `mixing` gives a method's token-to-token matrix of every layer, if the
    method is made of them; `layered` its scores of every layer, if it is their sum.
    `better` says which values of a metric are good for a method, `group` under which heading a report shows it,
    `roles` which further scores it compares, `axes` what its curve shows (across, up), `chunked` in which
    protocols its mean is the mean of means of chunks, `takes` how many passes it asks for. `shared` computes
    what a metric must know of an example whatever the method: a function of its subject and of the metric's
    options, whose result is the metric's second argument.
    `preset` names the rules by which a method sends relevance, if it has no option for them. `settled`
    are options that are part of the name, as in NAME:OPTION=VALUE. `is_laborious` marks a method that
    computes for a long time besides its passes; `is_order` one whose scores say which token comes before which,
    and not how much each of them counts.
    """

    name: str
    function: Function
    needs: frozenset[str] = frozenset()
    signed: bool = False
    paper: str = ""
    aliases: tuple[str, ...] = ()
    released: Function | None = None
    mixing: Function | None = None
    layered: Function | None = None
    better: Literal["higher", "lower", ""] = ""
    group: str = ""
    roles: tuple[str, ...] = ()
    axes: tuple[str, str] | None = None
    chunked: tuple[str, ...] = ()
    takes: str = ""
    shared: Function | None = None
    preset: str = ""
    is_laborious: bool = False
    is_order: bool = False
    settled: Mapping[str, Any] = field(default_factory=dict)
    variant: str = ""

    def __str__(self) -> str:
        return self.name

    @property
    def summary(self) -> str:
        """The first sentence of the function's documentation."""
        return (self.function.__doc__ or "").strip().split("\n")[0]

    @property
    def cost(self) -> Literal["fast", "slow"]:
        """'fast' for one pass or a few, 'slow' for many passes or long computation."""
        return "slow" if self.is_laborious or "replay" in self.needs else "fast"

    @property
    def difference(self) -> str:
        """How the released code differs from the paper; '' if it does not."""
        return (self.released.__doc__ or "").strip() if self.released else ""

    @property
    def options(self) -> dict[str, Option]:
        """The options that a call may still give, by name."""
        return {n: o for n, o in options_of(self.computing).items() if n not in self.settled}

    def checked(self, option: str, value: object) -> Any:
        """The value of an option as the function takes it; a wrong name or value is refused."""
        if option not in self.options:
            raise unknown_option(option, [self])
        return self.options[option].checked(value, self.name)

    def preset_with(self, given: Mapping[str, Any]) -> str:
        """The rules by which a call with these options sends relevance; '' where it sends none."""
        option = options_of(self.computing).get("preset")
        if option is None:
            return self.preset
        return str({"preset": option.default, **given, **self.settled}["preset"])

    def with_options(self, options: Mapping[str, Any], name: str) -> "Entry":
        """The entry under another name, with options that no caller can change."""
        return replace(self, name=name, settled={**self.settled, **options})

    @property
    def computing(self) -> Function:
        """The function of the variant: what the paper writes, or what the authors released."""
        return self.released if self.released and self.variant == "released" else self.function

    def in_variant(self, usual: str) -> "Entry":
        """The entry in the variant that its name settles, otherwise in this one, the usual one of a call."""
        check_variant(usual)
        return self if self.variant else replace(self, variant=usual)


def check_variant(name: object) -> None:
    """Refuse a variant that does not exist."""
    if name not in ("paper", "released"):
        raise InvalidOption(
            f"variant '{name}' does not exist. Use 'paper' (what the paper writes) "
            "or 'released' (what the authors' code computes)."
        )


RENAMED = {
    "start_layer": "'start_layer' counted layers from 0; 'first_layer' counts them from 1, so that "
    "start_layer=2 is first_layer=3.",
}
"""What to say about options that had another name or meaning in an earlier version."""


def unknown_option(option: str, entries: Sequence[Entry]) -> InvalidOption:
    """The error for an option that none of these entries has."""
    known = sorted({name for entry in entries for name in entry.options})
    near = get_close_matches(option, known, n=1, cutoff=0.6)
    proposal = f" Did you mean '{near[0]}'?" if near else ""
    proposal = f" {RENAMED[option]}" if option in RENAMED else proposal
    if any(option in options_of(entry.function) for entry in entries):
        proposal = " It belongs to variant 'paper'."
    asked = ", ".join(f"'{entry.name}'" for entry in entries)
    has = "has" if len(entries) == 1 else "have"
    return InvalidOption(
        f"{asked} {has} no option '{option}'.{proposal} Known options: {', '.join(known) or 'none'}."
    )


def check_given(entries: Sequence[Entry], given: Mapping[str, Any]) -> None:
    """Refuse options that no method takes or that its name has settled, and values that do not fit."""
    for name, value in given.items():
        takers = [entry for entry in entries if name in entry.options]
        for entry in takers:
            if value is not None or entry.options[name].has_default:
                entry.checked(name, value)
        if takers:
            continue
        for entry in entries:
            if name in entry.settled:
                raise InvalidOption(
                    f"'{entry.name}' settles {name}, but {name}={value!r} was given too. Give it once."
                )
        raise unknown_option(name, entries)


# ---------------------------------------------------------------------- NAME:OPTION=VALUE


def parse_option(text: str) -> tuple[str, Any] | None:
    """The name and value of OPTION=VALUE, or None for other text; a value that is not JSON is text."""
    option, sign, value = text.partition("=")
    if not sign or not option.strip():
        return None
    try:
        return option.strip(), json.loads(value)
    except ValueError:
        return option.strip(), value.strip()


@dataclass(frozen=True)
class Specification:
    """A name with options, as `headlight.using` makes them; in text, NAME:OPTION=VALUE."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return written(self.name, self.options)

    def released(self) -> "Specification":
        """The same as the authors' published code computes it."""
        return replace(self, options={**self.options, VARIANT: "released"})


OUTSIDE_LISTS = re.compile(r",(?![^\[]*\])")
"""A comma that is not within a list in brackets."""


def parse_specification(specification: str | Specification) -> tuple[str, dict[str, Any]]:
    """The name and options of NAME or NAME:OPTION=VALUE,OPTION=VALUE; a list is written [1,2]."""
    if isinstance(specification, Specification):
        return specification.name, dict(specification.options)
    name, sign, rest = specification.partition(":")
    options: dict[str, Any] = {}
    for part in OUTSIDE_LISTS.split(rest) if sign else ():
        parsed = parse_option(part)
        if parsed is None:
            raise InvalidOption(
                f"'{specification}' is not understood. Write NAME:OPTION=VALUE, several with commas."
            )
        if parsed[0] in options:
            raise InvalidOption(f"'{specification}' gives {parsed[0]} twice. Give it once.")
        options.update([parsed])
    return name.strip(), options


def written(name: str, options: Mapping[str, Any]) -> str:
    """NAME:OPTION=VALUE,OPTION=VALUE, as `parse_specification` reads it."""

    def plain(value: Any) -> str:
        is_json = value is None or isinstance(value, bool | int | float | list | tuple)
        return json.dumps(value, separators=(",", ":")) if is_json else str(value)

    shown = ",".join(f"{option}={plain(value)}" for option, value in options.items())
    return f"{name}:{shown}" if options else name


def normalised(name: str) -> str:
    """A name in lower case without dashes, spaces and underscores, so that 'AttCAT' finds 'attcat'."""
    return "".join(c for c in name.lower() if c.isalnum())


class Named(Protocol):
    """What a registry holds: something with a name, and other names that find it too."""

    @property
    def name(self) -> str: ...
    @property
    def aliases(self) -> tuple[str, ...]: ...


@dataclass
class Registry(Generic[N]):
    """Named things of one kind; iterating gives the names in the order of registration.

    Other packages add theirs through the entry-point group `headlight.<kind>s`: each entry point
    names a module that registers when it is imported. They are read on the first look-up.
    """

    kind: str
    entries: dict[str, N] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)
    plugins_read: bool = False

    def add(self, entry: N) -> None:
        """Add one; a name that is taken is refused."""
        for spelling in map(normalised, (entry.name, *entry.aliases)):
            taken = self.spellings.get(spelling, entry.name) != entry.name
            if taken or entry.name in self.entries:
                raise ValueError(
                    f"{self.kind} '{entry.name}' or an alias of it is registered twice"
                )
            self.spellings[spelling] = entry.name
        self.entries[entry.name] = entry

    def read_plugins(self) -> None:
        """Import what other packages register through their entry points, once."""
        if not self.plugins_read:
            self.plugins_read = True
            for point in entry_points(group=f"headlight.{self.kind.replace(' ', '')}s"):
                point.load()

    def __getitem__(self, name: str) -> N:
        self.read_plugins()
        spelling = self.spellings.get(normalised(str(name)))
        if spelling is None:
            raise unknown_name(self.kind, name, self.entries)
        return self.entries[spelling]

    def __contains__(self, name: object) -> bool:
        self.read_plugins()
        return normalised(str(name)) in self.spellings

    def __iter__(self) -> Iterator[str]:
        self.read_plugins()
        return iter(self.entries)

    def __len__(self) -> int:
        self.read_plugins()
        return len(self.entries)


@dataclass
class Functions(Registry[Entry]):
    """A registry of functions: methods, metrics, renderers."""

    def register(self, name: str, **facts: Any) -> Callable[[F], F]:
        """Register the decorated function under `name`; a name that is taken is refused."""

        def add(function: F) -> F:
            self.add(Entry(name, function, **facts))
            return function

        return add

    def released(self, name: str) -> Callable[[F], F]:
        """Register the decorated function as the released variant of the entry `name`."""

        def add(function: F) -> F:
            self.entries[name] = replace(self.entries[name], released=function)
            return function

        return add

    def specified(self, specification: str | Specification) -> Entry:
        """The entry of NAME, or of NAME:OPTION=VALUE with those options settled, once they are checked.

        NAME:variant=released is NAME in a call with that variant, whatever the variant of this call.
        """
        name, given = parse_specification(specification)
        entry = self[name]
        if VARIANT in given:
            entry = entry.in_variant(given[VARIANT])
        values = {
            option: value if option == VARIANT else entry.checked(option, value)
            for option, value in given.items()
        }
        options = {option: value for option, value in values.items() if option != VARIANT}
        return entry.with_options(options, written(entry.name, values))
