"""What is text, what is not, and what to give instead."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headlight import InvalidInput
from headlight.text import as_tuple, check_characters, check_text, is_blank, wrong_kind


def test_a_pair_is_two_texts() -> None:
    assert as_tuple("a") == ("a",)
    assert as_tuple(("a", "b")) == ("a", "b")


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b", "\ufeff\x00", "\ufffd \ufffd", ("a", " ")])
def test_what_cannot_be_seen_is_blank(text: Any) -> None:
    assert is_blank(text)
    with pytest.raises(InvalidInput, match="input 3 is empty or only spaces and invisible"):
        check_text(text, 3)


@pytest.mark.parametrize("text", ["a", "中", "🎬", ".", "\u200ba"])
def test_what_can_be_seen_is_not(text: str) -> None:
    assert not is_blank(text)
    check_text(text, 0)
    check_text((text, text), 0)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "None, not text. Give a string"),
        (b"a", "bytes, not text. Decode them first"),
        (Path("a"), "a path, not text. Read the file first"),
        ({"a"}, "a set, which has no order"),
        (["a", "b"], "a list inside a list. A pair is a tuple"),
        (np.array(["a"]), "a list inside a list"),
        (math.nan, "missing (NaN)"),
        (5, "a int, not text"),
        ({"role": "user", "content": "hi"}, "a chat message. Write the whole chat as one text"),
        ({"text": "hi"}, "a mapping without 'input_ids' (its keys: 'text')"),
        ({}, "(its keys: none)"),
    ],
)
def test_what_is_no_text_is_called_by_its_kind(value: Any, said: str) -> None:
    assert said in wrong_kind(value)
    with pytest.raises(InvalidInput, match=r"^input 2 is "):
        check_text(("fine", value), 2)


def test_a_tuple_of_three_is_no_pair() -> None:
    with pytest.raises(InvalidInput, match=r"a tuple of 3; a pair has exactly two texts"):
        check_text(("a", "b", "c"), 0)


def test_half_a_character_is_refused_with_its_repair() -> None:
    with pytest.raises(
        InvalidInput, match=r"the label has a lone surrogate at character 2.*surrogatepass"
    ):
        check_characters("ab\ud800", "the label")
    check_characters("ab🎬", "the label")
