"""One registry class for everything that is looked up by name."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from importlib.metadata import entry_points
from inspect import Parameter, signature
from types import MappingProxyType
from typing import Any, Literal

from headlight.errors import InvalidOption, unknown_name

Function = Callable[..., Any]


@dataclass(frozen=True)
class Entry:
    """One registered function and what is known about it.

    `released` computes what the authors' published code computes, where that is not what the paper
    writes; its docstring says what differs. `mixing` gives a method's token-to-token matrix of every
    layer, where the method is made of them; `layered` its scores of every layer, where it is their sum.
    `better` says which values of a metric speak for a method.
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

    @property
    def summary(self) -> str:
        """The first sentence of the function's documentation."""
        return (self.function.__doc__ or "").strip().split("\n")[0]

    @property
    def difference(self) -> str:
        """How the released code differs from the paper, or nothing if it does not."""
        return (self.released.__doc__ or "").strip() if self.released else ""

    @property
    def options(self) -> Mapping[str, object]:
        """The keyword options of the function with their defaults."""
        parameters = signature(self.function).parameters.values()
        found = {p.name: p.default for p in parameters if p.kind is Parameter.KEYWORD_ONLY}
        return MappingProxyType(found)

    def with_options(self, name: str, options: Mapping[str, Any]) -> "Entry":
        """The entry under another name, with options that no caller can change."""

        def settled(function: Function) -> Function:
            @wraps(function)
            def call(*args: Any, **others: Any) -> Any:
                return function(*args, **{**others, **options})

            return call

        return replace(
            self,
            name=name,
            function=settled(self.function),
            released=settled(self.released) if self.released else None,
        )

    def variant(self, name: str) -> Function:
        """The function for `variant=name`: what the paper writes, or what the authors released."""
        if name == "paper":
            return self.function
        if name == "released":
            return self.released or self.function
        raise InvalidOption(
            f"variant '{name}' does not exist. Use 'paper' (what the paper writes) "
            "or 'released' (what the authors' code computes)."
        )


def parse_specification(specification: str) -> tuple[str, dict[str, Any]]:
    """The name and options of NAME or NAME:OPTION=VALUE,OPTION=VALUE; values are JSON, else text."""
    name, sign, rest = specification.partition(":")
    options: dict[str, Any] = {}
    for part in rest.split(",") if sign else ():
        option, equals, value = part.partition("=")
        if not equals or not option.strip():
            raise InvalidOption(
                f"'{specification}' is not understood. Write NAME:OPTION=VALUE, several with commas."
            )
        try:
            options[option.strip()] = json.loads(value)
        except ValueError:
            options[option.strip()] = value
    return name, options


def normalised(name: str) -> str:
    """A name without case, dashes, spaces and underscores, so that 'AttCAT' finds 'attcat'."""
    return "".join(c for c in name.lower() if c.isalnum())


@dataclass
class Registry:
    """Named entries of one kind; iterating gives the names in the order of registration.

    Other packages add theirs through the entry-point group `headlight.<kind>s`: each entry point
    names a module that registers when it is imported. They are read on the first look-up.
    """

    kind: str
    entries: dict[str, Entry] = field(default_factory=dict)
    spellings: dict[str, str] = field(default_factory=dict)
    plugins_read: bool = False

    def register(self, name: str, **facts: Any) -> Callable[[Function], Function]:
        """Register the decorated function under `name`; a name that is taken is refused."""

        def add(function: Function) -> Function:
            entry = Entry(name, function, **facts)
            for spelling in map(normalised, (name, *entry.aliases)):
                if self.spellings.get(spelling, name) != name or name in self.entries:
                    raise ValueError(f"{self.kind} '{name}' or an alias of it is registered twice")
                self.spellings[spelling] = name
            self.entries[name] = entry
            return function

        return add

    def released(self, name: str) -> Callable[[Function], Function]:
        """Register the decorated function as the released variant of the entry `name`."""

        def add(function: Function) -> Function:
            self.entries[name] = replace(self.entries[name], released=function)
            return function

        return add

    def read_plugins(self) -> None:
        """Import what other packages register through their entry points, once."""
        if not self.plugins_read:
            self.plugins_read = True
            for point in entry_points(group=f"headlight.{self.kind}s"):
                point.load()

    def __getitem__(self, name: str) -> Entry:
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
