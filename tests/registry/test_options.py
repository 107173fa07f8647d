"""What options take: kinds, bounds, and the sentences that say so."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pytest

from headlight import METHODS, METRICS, InvalidOption
from headlight.explaining.choices import CHOICES
from headlight.registry.options import (
    Among,
    Bounds,
    Count,
    LayerNumber,
    NotNegative,
    Option,
    Positive,
    Seed,
    Share,
    options_of,
)


@pytest.mark.parametrize(
    ("kind", "given", "taken"),
    [
        (Count, 3, 3),
        (Count, np.int64(3), 3),
        (LayerNumber, 0, 0),
        (Share, 1, 1.0),
        (Share, np.float32(0.5), 0.5),
        (Positive, 1e-9, 1e-9),
        (NotNegative, 0, 0.0),
        (Seed, 2**32 - 1, 2**32 - 1),
        (bool, True, True),
        (str, "x", "x"),
        (Count | None, None, None),
        (Count | None, 2, 2),
        (Literal["a", "b"], "b", "b"),
        (Literal[1, 2], np.int8(2), 2),
        (Sequence[float], (0, 0.5), [0.0, 0.5]),
        (object, "anything", "anything"),
    ],
)
def test_what_fits_is_taken_as_python_has_it(kind: Any, given: object, taken: object) -> None:
    found = Option("x", kind).checked(given, "it")
    assert found == taken
    assert type(found) is type(taken)


@pytest.mark.parametrize(
    ("kind", "given", "takes"),
    [
        (Count, 0, "a whole number, 1 or more"),
        (Count, 1.5, "a whole number, 1 or more"),
        (Count, 2.0, "a whole number, 1 or more"),
        (Count, True, "a whole number, 1 or more"),
        (Count, "3", "a whole number, 1 or more"),
        (Count, None, "a whole number, 1 or more"),
        (Count, np.ones(1, int), "a whole number, 1 or more"),
        (Share, 1.01, "a number, from 0 to 1"),
        (Share, float("nan"), "a number, from 0 to 1"),
        (Share, False, "a number, from 0 to 1"),
        (Positive, 0, "a number, above 0"),
        (Positive, float("inf"), "a number, above 0"),
        (Seed, -1, "a whole number, from 0 to 4294967295"),
        (bool, 1, "true or false"),
        (str, 1, "a text"),
        (Count | None, 0, "a whole number, 1 or more, or null"),
        (Literal["a", "b"], "c", "'a' or 'b'"),
        (Literal["a", "b"], [], "'a' or 'b'"),
        (Literal[1, 2], True, "1 or 2"),
        (Sequence[float], "0.5", "a list, each a number"),
        (Sequence[float], ["x"], "a list, each a number"),
        (Sequence[float], 3, "a list, each a number"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(kind: Any, given: object, takes: str) -> None:
    with pytest.raises(InvalidOption) as caught:
        Option("x", kind).checked(given, "it")
    assert str(caught.value) == f"x={given!r} is not possible for 'it'. Use {takes}."


def test_bounds_and_words_say_themselves() -> None:
    assert str(Bounds(0, 1, is_above=True)) == "above 0 and at most 1"
    assert 0 not in Bounds(0, 1, is_above=True)
    assert 1 in Bounds(0, 1, is_above=True)
    assert str(Among(("a", "b"))) == "one of 'a', 'b'"
    assert "c" not in Among(("a", "b"))


def test_an_option_without_annotation_takes_what_its_default_is() -> None:
    def method(trace: object, *, count=3, name="x", needed) -> None:  # type: ignore[no-untyped-def]
        """Annotated nowhere."""

    options = options_of(method)
    assert options["count"].checked(4, "method") == 4
    assert not options["needed"].has_default
    for name, value in (("count", "x"), ("count", 1.5), ("name", 1)):
        with pytest.raises(InvalidOption, match=f"{name}="):
            options[name].checked(value, "method")


@pytest.mark.parametrize("name", METHODS)
def test_every_default_of_a_method_is_one_that_it_takes(name: str) -> None:
    entry = METHODS[name]
    for function in (entry.function, entry.released or entry.function):
        for option in options_of(function).values():
            assert option.has_default or option.name in CHOICES
            if option.has_default:
                is_tuple = isinstance(option.default, tuple)
                expected = [*option.default] if is_tuple else option.default  # type: ignore[misc]
                assert option.checked(option.default, name) == expected


@pytest.mark.parametrize("name", METHODS)
def test_every_part_of_a_method_takes_its_options(name: str) -> None:
    """The released variant may have fewer: options say how the paper is read."""
    entry = METHODS[name]
    for function in filter(None, (entry.mixing, entry.layered)):
        assert set(entry.options) <= set(options_of(function))
    assert set(entry.in_variant("released").options) <= set(entry.options)


@pytest.mark.parametrize("name", METRICS)
def test_every_default_of_a_metric_is_one_that_it_takes(name: str) -> None:
    for option in METRICS[name].options.values():
        if isinstance(option.default, str | int | float):
            assert option.checked(option.default, name) == option.default
