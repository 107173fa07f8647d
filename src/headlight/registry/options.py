"""What an option takes: read from its annotation, checked once, where a call is planned.

    steps: Count = 50                      a whole number, 1 or more
    width: Positive = 0.25                 a number above 0
    form: Literal["a", "b"] = "a"          'a' or 'b'
    top: Count | None = None               a whole number, 1 or more, or null

A value of any other kind (a mask, a decoder) is passed on unchecked: the code that looks it up checks it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from numbers import Integral, Real
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from headlight.errors import InvalidOption


@dataclass(frozen=True)
class Bounds:
    """The smallest and largest number that an option takes; `is_above` excludes the smallest."""

    least: float = -math.inf
    most: float = math.inf
    is_above: bool = False

    def __contains__(self, value: float) -> bool:
        is_low = value <= self.least if self.is_above else value < self.least
        return not is_low and value <= self.most

    def __str__(self) -> str:
        low = f"above {self.least:g}" if self.is_above else f"{self.least:.12g} or more"
        if math.isinf(self.most):
            return low
        if self.is_above:
            return f"{low} and at most {self.most:.12g}"
        return f"from {self.least:.12g} to {self.most:.12g}"


@dataclass(frozen=True)
class Among:
    """The words that an option takes."""

    words: tuple[str, ...]

    def __contains__(self, value: object) -> bool:
        return value in self.words

    def __str__(self) -> str:
        return f"one of {', '.join(map(repr, self.words))}"


Count = Annotated[int, Bounds(1)]
LayerNumber = Annotated[int, Bounds(0)]
"""1 … L, the output of each block; 0 is the embedding output."""
BlockNumber = Annotated[int, Bounds(1)]
Seed = Annotated[int, Bounds(0, 2**32 - 1)]
Share = Annotated[float, Bounds(0, 1)]
Positive = Annotated[float, Bounds(0, is_above=True)]
NotNegative = Annotated[float, Bounds(0)]


class ByModel:
    """In a signature, a default that depends on the model; `explain` replaces it with the real one."""

    def __repr__(self) -> str:
        return "chosen by the model"

    def __getattr__(self, name: str) -> Any:
        raise InvalidOption(
            "an option that depends on the model was left out. Call the method through headlight.explain, "
            "which chooses it, or give it."
        )


BY_MODEL: Any = ByModel()


class Unfit(ValueError):
    """A value that an option does not take."""


@dataclass(frozen=True)
class Option:
    """A keyword option of a function: its kind, and its default (none if the model decides)."""

    name: str
    kind: Any
    default: object = Parameter.empty

    @property
    def has_default(self) -> bool:
        """Whether the function itself has a default for the option."""
        return self.default is not Parameter.empty and self.default is not BY_MODEL

    @property
    def takes(self) -> str:
        """What the option takes, in words."""
        return in_words(self.kind)

    def checked(self, value: object, owner: str) -> Any:
        """The value as the function takes it; the error says what `owner` takes instead."""
        try:
            return as_kind(self.kind, value)
        except Unfit:
            raise InvalidOption(
                f"{self.name}={value!r} is not possible for '{owner}'. Use {self.takes}."
            ) from None


@cache
def options_of(function: Callable[..., Any]) -> Mapping[str, Option]:
    """The keyword options of a function by name."""
    kinds = get_type_hints(function, include_extras=True)
    return MappingProxyType(
        {
            p.name: Option(p.name, kinds.get(p.name, declared_kind(p)), p.default)
            for p in signature(function).parameters.values()
            if p.kind is Parameter.KEYWORD_ONLY
        }
    )


def declared_kind(parameter: Parameter) -> Any:
    """The annotation of a parameter; without one, the type of its default, or any type if that is None."""
    if parameter.annotation is not Parameter.empty:
        return parameter.annotation
    return object if parameter.default is None else type(parameter.default)


# ------------------------------------------------------------------------------------- kinds


def as_kind(kind: Any, value: Any) -> Any:
    """The value as a kind of option takes it; numpy numbers become Python numbers."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return within(as_kind(parts[0], value), parts[1:])
    if origin in (Union, UnionType):
        return of_any(parts, value)
    if origin is Literal:
        return same_as_one(parts, value)
    if isinstance(origin, type) and issubclass(origin, Sequence):
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise Unfit
        return [as_kind(parts[0], element) for element in value]
    return of_class(kind, value)


def of_class(kind: Any, value: Any) -> Any:
    """A plain number, text or boolean; True is not a number."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if kind is int and isinstance(value, Integral) and is_number:
        return int(value)
    if kind is float and is_number and math.isfinite(value):
        return float(value)
    if kind in (str, bool, NoneType) and isinstance(value, kind):
        return value
    if kind in (int, float, str, bool, NoneType):
        raise Unfit
    return value


def within(value: Any, facts: Sequence[Any]) -> Any:
    """The value; refused unless the bounds or words of its kind allow it."""
    if any(value not in fact for fact in facts if isinstance(fact, Bounds | Among)):
        raise Unfit
    return value


def of_any(kinds: Sequence[Any], value: Any) -> Any:
    """The value as the first of several kinds that takes it."""
    for kind in kinds:
        try:
            return as_kind(kind, value)
        except Unfit:
            continue
    raise Unfit


def same_as_one(known: Sequence[Any], value: Any) -> Any:
    """The known value that equals this one."""
    for candidate in known:
        try:
            if as_kind(type(candidate), value) == candidate:
                return candidate
        except Unfit:
            continue
    raise Unfit


WORDS = {
    int: "a whole number",
    float: "a number",
    str: "a text",
    bool: "true or false",
    NoneType: "null",
}


def in_words(kind: Any) -> str:
    """What a kind of option takes, in words."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        bounds = [str(fact) for fact in parts[1:] if isinstance(fact, Bounds)]
        words = [str(fact) for fact in parts[1:] if isinstance(fact, Among)]
        return words[0] if words else ", ".join([in_words(parts[0]), *bounds])
    if origin in (Union, UnionType):
        return ", or ".join(in_words(part) for part in parts)
    if origin is Literal:
        return " or ".join(repr(part) for part in parts)
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return f"a list, each {in_words(parts[0])}"
    return WORDS.get(kind, f"a {getattr(kind, '__name__', kind)}")
