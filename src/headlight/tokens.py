"""Tokens: which of them are ordinary, and how people write them, without the marks of their tokenizer."""

from collections.abc import Sequence
from functools import cache

SPACE, LINE_BREAK = "␣", "⏎"


def ordinary(is_special: Sequence[bool]) -> list[bool]:
    """Which tokens are not special; all of them if every one is.

    Scales, baselines and perturbations all leave out special tokens by this rule.
    """
    plain = [not special for special in is_special]
    return plain if any(plain) else [True] * len(plain)


def readable(tokens: Sequence[str]) -> tuple[str, ...]:
    """Tokens without the marks of their tokenizer; one that is only white space becomes a visible sign."""
    if any(token.startswith("Ġ") for token in tokens):
        tokens = [decoded(token) for token in tokens]
    return tuple(named(token.replace("▁", " ")) for token in tokens)


def spelled(tokens: Sequence[str]) -> list[str]:
    """Tokens as text that can be joined: each with the space before it, without other marks."""
    if any("Ġ" in token for token in tokens):
        return [decoded(token) for token in tokens]
    if any("▁" in token for token in tokens):
        return [token.replace("▁", " ") for token in tokens]
    return [
        token.removeprefix("##") if token.startswith("##") else f" {token}" if number else token
        for number, token in enumerate(tokens)
    ]


def named(token: str) -> str:
    """A token without spaces around it, or a sign if nothing else is left."""
    return token.strip() or (LINE_BREAK if "\n" in token else SPACE)


def decoded(token: str) -> str:
    """The text of a token of a byte-level tokenizer, which writes every byte as one letter."""
    letters = byte_letters()
    if any(letter not in letters for letter in token):
        return token
    return bytes(letters[letter] for letter in token).decode(errors="replace")


@cache
def byte_letters() -> dict[str, int]:
    """The byte behind each letter of byte-level tokenizers: the same code if printable, else from 256 on."""
    # The printable characters of Latin-1; 173 is the soft hyphen.
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {
        chr(256 + number): byte for number, byte in enumerate(hidden)
    }
