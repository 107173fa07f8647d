"""Tokens: which of them are ordinary, and how people write them, without the marks of their tokenizer."""

from collections.abc import Sequence
from functools import cache

SPACE, LINE_BREAK = "␣", "⏎"


def ordinary(is_special: Sequence[bool]) -> list[bool]:
    """Which tokens are not special; all of them where every one is.

    The one rule by which special tokens are left out of scales, baselines and perturbations.
    """
    plain = [not special for special in is_special]
    return plain if any(plain) else [True] * len(plain)


def readable(tokens: Sequence[str]) -> tuple[str, ...]:
    """Tokens without the marks of their tokenizer; those of nothing but white space have a sign."""
    if any(token.startswith("Ġ") for token in tokens):
        tokens = [decoded(token) for token in tokens]
    return tuple(named(token.replace("▁", " ")) for token in tokens)


def spelled(tokens: Sequence[str]) -> list[str]:
    """Tokens as text that can be put together: with the space that was before each, and nothing else."""
    if any("Ġ" in token for token in tokens):
        return [decoded(token) for token in tokens]
    if any("▁" in token for token in tokens):
        return [token.replace("▁", " ") for token in tokens]
    return [
        token.removeprefix("##") if token.startswith("##") else f" {token}" if number else token
        for number, token in enumerate(tokens)
    ]


def named(token: str) -> str:
    """A token without spaces around it, or a sign for those."""
    return token.strip() or (LINE_BREAK if "\n" in token else SPACE)


def decoded(token: str) -> str:
    """The text of a token that is spelled in the letters of a byte-level tokenizer."""
    letters = byte_letters()
    if any(letter not in letters for letter in token):
        return token
    return bytes(letters[letter] for letter in token).decode(errors="replace")


@cache
def byte_letters() -> dict[str, int]:
    """The letter by which byte-level tokenizers write each byte: itself, or one from 256 on."""
    shown = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in shown]
    return {chr(byte): byte for byte in shown} | {
        chr(256 + number): byte for number, byte in enumerate(hidden)
    }
