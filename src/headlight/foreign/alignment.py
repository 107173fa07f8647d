"""Where foreign tokens and words stand in a text, and how their scores become those of a model's tokens.

The rule: the score of a stretch of text is spread over its characters evenly, without white space, and a token
receives the sum of what lies on its characters. So a word's score is divided among its tokens, the scores of
letters are added up, and the sum over the text stays the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from headlight.errors import InvalidInput
from headlight.text import is_unseen
from headlight.tokens import spelled

SHOWN = 20
"""How many characters of a text an error shows."""


@dataclass(frozen=True)
class Place:
    """A stretch of one of the texts: first character, and the one after its last."""

    segment: int
    start: int
    end: int


class Mismatch(Exception):
    """A name that is not what stands in the text. reached: how many names before it do."""

    def __init__(self, reached: int, sentence: str) -> None:
        super().__init__(sentence)
        self.reached = reached


# ---------------------------------------------------------------------------- names to places


def located(
    names: Sequence[str], texts: Sequence[str], specials: frozenset[str], kind: str
) -> list[Place | None]:
    """Where tokens or words stand in the texts; None for those without characters, as special tokens are.

    They must follow each other without gaps. Case, accents, white space and the marks of tokenizers do not
    count. kind: what errors call a name, 'token' or 'word'.
    """
    plain = [name for name in names if name not in specials]
    respelled = iter(spelled(plain))
    spellings = (names, [name if name in specials else next(respelled) for name in names])
    found: list[Mismatch] = []
    for spelling in spellings:
        if len(texts) == 1 and (places := joined(spelling, texts[0], specials)) is not None:
            return places
        try:
            return walked(spelling, texts, specials, kind)
        except Mismatch as mismatch:
            found.append(mismatch)
    raise InvalidInput(
        f"{max(found, key=lambda each: each.reached)} Give the {kind}s of this text, all and in order, or the "
        "characters of each: spans=[(start, end), …]."
    )


def joined(names: Sequence[str], text: str, specials: frozenset[str]) -> list[Place | None] | None:
    """The places of pieces that give exactly the text when they are put together; None if they do not."""
    kept = ["" if name in specials else name for name in names]
    if "".join(kept) != text:
        return None
    ends = np.cumsum([len(name) for name in kept]).tolist()
    return [
        Place(0, end - len(name), end) if name else None
        for name, end in zip(kept, ends, strict=True)
    ]


def walked(
    names: Sequence[str], texts: Sequence[str], specials: frozenset[str], kind: str
) -> list[Place | None]:
    """The places of names that follow each other in the texts."""
    letters = [
        (letter, segment, place)
        for segment, text in enumerate(texts)
        for letter, place in folded(text)
    ]
    places: list[Place | None] = []
    done = 0
    for number, name in enumerate(names):
        wanted = [letter for letter, _ in folded(name)]
        met = letters[done : done + len(wanted)]
        is_here = bool(wanted) and [letter for letter, *_ in met] == wanted
        if is_here and met[0][1] == met[-1][1]:
            places.append(Place(met[0][1], met[0][2], met[-1][2] + 1))
            done += len(wanted)
        elif name in specials or not wanted:
            places.append(None)
        else:
            raise Mismatch(number, strayed(f"{kind} {number}, {name!r},", texts, letters[done:]))
    return places


def strayed(name: str, texts: Sequence[str], left: Sequence[tuple[str, int, int]]) -> str:
    """What stands in the text where a name was expected."""
    if not left:
        return f"{name} comes after the end of the text."
    _, segment, place = left[0]
    return (
        f"{name} is not what stands in the text at character {place}: "
        f"{texts[segment][place : place + SHOWN]!r}."
    )


def folded(text: str) -> list[tuple[str, int]]:
    """The letters of a text without case, accents and what shows nothing, each with its place."""
    return [
        (letter, place)
        for place, character in enumerate(text)
        if not is_unseen(character)
        for part in normalize("NFKD", character)
        if category(part) != "Mn" and not part.isspace()
        for letter in part.casefold()
    ]


# --------------------------------------------------------------------------- places to tokens


def spread(
    places: Sequence[Place],
    scores: Sequence[float],
    tokens: Sequence[Place | None],
    text_of: Sequence[str],
) -> NDArray[np.float64]:
    """The scores of tokens from those of stretches of text, by the rule above.

    A stretch of which no character is in a token has no place to go: its score must be 0.
    """
    found = np.zeros(len(tokens))
    owners = owners_of(tokens)
    for place, score in zip(places, scores, strict=True):
        shares = shares_of(place, text_of[place.segment], owners)
        if not shares and score:
            raise InvalidInput(
                f"the score {score:.3g} of {text_of[place.segment][place.start : place.end]!r} (characters "
                f"{place.start} to {place.end}) is on no token that the model reads: it is white space, or "
                "behind the longest input of the model. Leave it out, or set its score to 0."
            )
        whole = sum(shares.values())
        for token, share in shares.items():
            found[token] += score * (share / whole)
    return found


def owners_of(tokens: Sequence[Place | None]) -> dict[tuple[int, int], list[int]]:
    """For every character (segment, place), the tokens that it is in: several share a rare one byte by byte."""
    owners: dict[tuple[int, int], list[int]] = {}
    for number, token in enumerate(tokens):
        if token is not None:
            for place in range(token.start, token.end):
                owners.setdefault((token.segment, place), []).append(number)
    return owners


def shares_of(
    place: Place, text: str, owners: dict[tuple[int, int], list[int]]
) -> dict[int, float]:
    """How many characters of a stretch are in each token; white space counts only if there is nothing else."""
    inside = range(place.start, place.end)
    seen = [n for n in inside if not text[n].isspace()] or list(inside)
    shares: dict[int, float] = {}
    for character in seen:
        known = owners.get((place.segment, character), [])
        for token in known:
            shares[token] = shares.get(token, 0.0) + 1 / len(known)
    return shares
