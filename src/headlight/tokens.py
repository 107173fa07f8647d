"""Tokens: which are ordinary, which set the scale of scores, and how people write them."""

from collections.abc import Sequence
from functools import cache

SPACE, LINE_BREAK = "␣", "⏎"


def ordinary(is_special: Sequence[bool]) -> list[bool]:
    """Which tokens are not special; all of them if every one is.

    Baselines, perturbations and metrics leave out special tokens by this rule.
    """
    plain = [not special for special in is_special]
    return plain if any(plain) else [True] * len(plain)


def in_scale(is_special: Sequence[bool], is_sink: Sequence[bool]) -> list[bool]:
    """Which tokens set the scale of scores: ordinary ones that are no sinks; all ordinary ones if none is left.

    Pictures, `normalised` and `top` all follow this rule.
    """
    plain = ordinary(is_special)
    kept = [is_plain and not sink for is_plain, sink in zip(plain, is_sink, strict=True)]
    return kept if any(kept) else plain


def outside_names(is_special: Sequence[bool], is_sink: Sequence[bool]) -> list[str]:
    """What to call the tokens outside the scale; [] if there are none."""
    flags = zip(is_special, in_scale(is_special, is_sink), strict=True)
    outside = [special for special, counts in flags if not counts]
    return ["special tokens"] * any(outside) + ["the first token"] * (not all(outside))


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
