"""Needles: a made-up fact planted among made-up passages, and a question that only this fact answers.

All sentences are put together here from lists of words, so that no model has read them and prompts of any
length can be made.
"""

import random
from collections.abc import Callable

from headlight.data.example import Example
from headlight.errors import InvalidOption

PLACES = (
    "Brennick", "Oldenmoor", "Tarrow Hill", "Castle Vane", "Saint Orla", "Pellham", "Dunwater", "Iskerby",
    "Lower Quay", "Mossgate", "Farrowdale", "Wintle", "Hartlow", "Cobb Island", "Nether Ash", "Rookfield",
)  # fmt: skip
BUILDINGS = (
    "lighthouse", "mill", "library", "harbour office", "school", "observatory", "bakery", "town hall", "museum",
    "boathouse", "chapel", "post office",
)  # fmt: skip
COLOURS = (
    "violet",
    "amber",
    "crimson",
    "silver",
    "teal",
    "ivory",
    "scarlet",
    "olive",
    "copper",
    "indigo",
)
ANIMALS = ("heron", "badger", "otter", "falcon", "lynx", "raven", "salmon", "hare", "moth", "stoat")
PEOPLE = (
    "keeper",
    "mayor",
    "carpenter",
    "teacher",
    "ferryman",
    "gardener",
    "clerk",
    "painter",
    "nurse",
    "cook",
)
DEEDS = (
    "repaired the roof of", "painted the door of", "wrote a letter about", "counted the windows of",
    "planted apple trees behind", "lost an umbrella near", "took a photograph of", "swept the stairs of",
)  # fmt: skip
TIMES = (
    "early in spring", "on a wet Monday", "before the autumn fair", "after the long winter", "late one evening",
    "during the summer holidays", "on the first of May", "shortly before noon",
)  # fmt: skip
LEAST_LENGTH = 100


def needles(
    count: int,
    length: int,
    measure: Callable[[str], int],
    *,
    source_count: int = 8,
    seed: int = 0,
) -> list[Example]:
    """Questions whose sources have about `length` tokens together, as `measure` counts them in a text.

    One source, drawn for each question, holds the fact; the others say other things of the same kind.
    """
    if length < LEAST_LENGTH or source_count < 2 or count < 1:
        raise InvalidOption(
            f"needles need count=1, length={LEAST_LENGTH} and source_count=2 or more, not count={count}, "
            f"length={length}, source_count={source_count}."
        )
    return [
        needle(length, measure, source_count, random.Random(f"{seed}:{number}"))
        for number in range(count)
    ]


def needle(
    length: int, measure: Callable[[str], int], source_count: int, draw: random.Random
) -> Example:
    """One question, and passages of equal length of which one holds its fact."""
    place, building = draw.choice(PLACES), draw.choice(BUILDINGS)
    secret = f"{draw.choice(COLOURS)} {draw.choice(ANIMALS)}"
    fact = f"The password of the {building} at {place} is {secret}."
    right = draw.randrange(source_count)
    each = length // source_count
    sources = [
        passage(each, measure, fact if number == right else "", draw)
        for number in range(source_count)
    ]
    question = f"What is the password of the {building} at {place}?"
    return Example(question, answers=(secret,), sources=tuple(sources))


def passage(length: int, measure: Callable[[str], int], fact: str, draw: random.Random) -> str:
    """Sentences of about this many tokens, with the fact at a drawn place if there is one."""
    sentences = [fact] if fact else []
    while not sentences or measure(" ".join(sentences)) < length:
        sentences.insert(draw.randint(0, len(sentences)), filler(draw))
    return " ".join(sentences)


def filler(draw: random.Random) -> str:
    """A sentence that holds no password."""
    person, deed, building = draw.choice(PEOPLE), draw.choice(DEEDS), draw.choice(BUILDINGS)
    return f"The {person} of {draw.choice(PLACES)} {deed} the {building} {draw.choice(TIMES)}."
