"""`Text`: the input to be explained, one text or a pair, and the messages for values that are not text."""

from collections.abc import Mapping
from math import isnan
from os import PathLike
from typing import Any
from unicodedata import category

from headlight.errors import InvalidInput

Text = str | tuple[str, str]

UNSEEN = ("Cc", "Cf", "Co", "Mn", "Me")
"""Unicode categories of characters that show nothing alone: control, format, private use, combining marks."""
ACCEPTED = (
    "Give a string, a tuple of two strings, a list of those, what a tokenizer returns, "
    "or a headlight.Batch."
)
KINDS: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (type(None), f"None, not text. {ACCEPTED}"),
    ((bytes, bytearray, memoryview), "bytes, not text. Decode them first: given.decode()."),
    (PathLike, "a path, not text. Read the file first: path.read_text()."),
    ((set, frozenset), "a set, which has no order. Give a list: sorted(given)."),
    (
        list,
        "a list inside a list. A pair is a tuple of two strings, ('first', 'second'); "
        "a text that was split into words is put together again: ' '.join(words).",
    ),
)
"""Types that are often given instead of text, and what would repair that."""


def as_tuple(text: Text) -> tuple[str, ...]:
    """The texts of one input: one, or the two of a pair."""
    return text if isinstance(text, tuple) else (text,)


def is_blank(text: Text) -> bool:
    """Whether a text, or either text of a pair, shows nothing.

    Characters without a shape (zero-width spaces, byte order marks, controls) give most tokenizers no token.
    """
    return any(all(map(is_unseen, part)) for part in as_tuple(text))


def is_unseen(character: str) -> bool:
    """Whether a character shows nothing by itself, or only replaces one that was lost (U+FFFD)."""
    return character.isspace() or category(character) in UNSEEN or character == "\ufffd"


def wrong_kind(value: Any) -> str:
    """What a value that is not text is, and what to give instead, to follow the words 'input 3 is'."""
    if isinstance(value, Mapping):
        return wrong_mapping(value)
    if isinstance(value, float) and isnan(value):
        return "missing (NaN). Leave it out, or put a text in its place."
    value = value.tolist() if hasattr(value, "tolist") else value
    for kinds, sentence in KINDS:
        if isinstance(value, kinds):
            return sentence
    return f"a {type(value).__name__}, not text. {ACCEPTED}"


def wrong_mapping(value: Mapping[Any, Any]) -> str:
    """The same for a mapping without token ids."""
    if {"role", "content"} <= set(value):
        return (
            "a chat message. Write the whole chat as one text and give that: "
            "tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)."
        )
    keys = ", ".join(repr(key) for key in list(value)[:5])
    return f"a mapping without 'input_ids' (its keys: {keys or 'none'}). {ACCEPTED}"


def check_text(text: Any, number: int) -> None:
    """Refuse what no tokenizer can turn into tokens."""
    if isinstance(text, tuple) and len(text) != 2:
        raise InvalidInput(
            f"input {number} is a tuple of {len(text)}; a pair has exactly two texts. "
            "Several texts are given as a list."
        )
    for part in as_tuple(text):
        if not isinstance(part, str):
            raise InvalidInput(f"input {number} is {wrong_kind(part)}")
        if is_blank(part):
            raise InvalidInput(
                f"input {number} is empty or only spaces and invisible characters: "
                "there is nothing to explain."
            )
        check_characters(part, f"input {number}")


def check_characters(text: str, name: str) -> None:
    """Refuse lone surrogates, which are halves of characters and which no tokenizer takes."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(
            f"{name} has a lone surrogate at character {error.start}, which is not text. "
            "Repair it with text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')."
        ) from error
