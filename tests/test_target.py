"""What a target may be, and its short forms."""

from typing import Any

import numpy as np
import pytest

from headlight import (
    InvalidOption,
    Target,
)


def test_bad_target_fields_are_refused() -> None:
    with pytest.raises(InvalidOption, match="Use one of 'logit', 'probability'"):
        Target(output="odds")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("short", "expected"),
    [
        (None, Target()),
        ("positive", Target(label="positive")),
        (2, Target(label=2)),
        (np.int64(2), Target(label=2)),
        (("a", "b"), Target(label="a", contrast="b")),
        (Target(word=1), Target(word=1)),
    ],
)
def test_short_forms_of_targets(short: Any, expected: Target) -> None:
    assert Target.of(short) == expected


@pytest.mark.parametrize("wrong", [True, 1.5, (1, 2, 3), [1], b"x"])
def test_what_is_no_target_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidOption, match=r"target=.* is not understood\. Give a label"):
        Target.of(wrong)


def test_numbers_of_numpy_become_those_of_python() -> None:
    found = Target(label=np.int32(3), span=np.array([4, 6]), position=np.int64(-1))  # type: ignore[arg-type]
    assert (found.label, found.span, found.position) == (3, (4, 6), -1)
    assert type(found.label) is int
    assert Target(span=[1, 2]).span == (1, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("field", "value", "takes"),
    [
        ("label", 1.5, "a class or token by its name or number"),
        ("label", True, "a class or token"),
        ("contrast", ["a"], "a class or token"),
        ("position", "3", "the number of a token"),
        ("word", False, "the number of a word"),
        ("span", (1, 2, 3), "the first and the last token"),
        ("span", (1, 2.5), "the first and the last token"),
        ("span", 4, "the first and the last token"),
        ("weights", (1.0,), "one number per token of the span"),
        ("weights", 2, "one number per token of the span"),
    ],
)
def test_fields_say_what_they_take(field: str, value: Any, takes: str) -> None:
    with pytest.raises(InvalidOption, match=rf"Target\({field}=.*is not possible\. Give .*{takes}"):
        Target(**{field: value})


@pytest.mark.parametrize(("field", "choices"), [("part", "'span', 'start'"), ("output", "'logit'")])
def test_choices_are_named(field: str, choices: str) -> None:
    with pytest.raises(InvalidOption, match=f"Use one of {choices}"):
        Target(**{field: "odd"})  # type: ignore[arg-type]


def test_a_span_may_have_weights() -> None:
    assert Target(span=(3, 5), weights=(1, 0.5, -2)).weights == (1.0, 0.5, -2.0)
    assert Target(span=(3, 3), weights=np.array([2.0])).weights == (2.0,)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "weights", [(), (1.0,), (1.0, 2.0, 3.0), (1.0, float("nan")), (1.0, "a"), (1.0, None), 3]
)
def test_weights_that_do_not_fit_the_span_are_refused(weights: object) -> None:
    with pytest.raises(InvalidOption, match="Give one number per token of the span"):
        Target(span=(1, 2), weights=weights)  # type: ignore[arg-type]
