"""Sources of a prompt: passages with names, found in its texts or put into them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from headlight.errors import InvalidInput
from headlight.text import check_characters, wrong_kind
from headlight.units import Span

SLOT = "{sources}"
"""Where a prompt wants its sources."""
OPENING = f"Answer the question from these sources.\n\n{SLOT}\n\nQuestion: "
"""What comes before a question whose sources are nowhere in it."""


@dataclass(frozen=True)
class Passage:
    """A source and its place: the number of a text, such as a message of a chat, and characters of it."""

    name: str
    number: int
    span: Span


def named_sources(sources: Any) -> dict[str, str]:
    """Sources by name, without the white space around them; those of a list are called 1, 2 and so on."""
    if sources is None:
        return {}
    if isinstance(sources, str) or not isinstance(sources, Iterable):
        raise InvalidInput(
            "sources are a list of texts, or a dict of texts by name. Give [text] for one source."
        )
    is_named = isinstance(sources, Mapping)
    named = dict(sources) if is_named else {str(n): s for n, s in enumerate(sources, 1)}
    if not named:
        raise InvalidInput("sources=[] has no source. Leave it out, or give at least one text.")
    for name, text in named.items():
        if not isinstance(name, str):
            raise InvalidInput(f"source {name!r} is not named by text. Give each source a name.")
        if not isinstance(text, str):
            raise InvalidInput(f"source '{name}' is {wrong_kind(text)}")
        if not text.strip():
            raise InvalidInput(f"source '{name}' is empty.")
        check_characters(text, f"source '{name}'")
    return {name: text.strip() for name, text in named.items()}


def with_sources(
    texts: Sequence[str], question: int, sources: Mapping[str, str], ending: str = ""
) -> tuple[list[str], list[Passage]]:
    """The texts of a prompt with the sources in them, and where they are.

    They are put where a text says {sources}. If none does, they are found where they are; if none of them is
    there, they are put before the question, the text of this number, with the ending after it.
    """
    texts = list(texts)
    if not sources:
        return texts, []
    slots = sum(text.count(SLOT) for text in texts)
    if slots > 1:
        raise InvalidInput(f"the prompt says {SLOT} {slots} times. Say it once: where they go.")
    lacking = [n for n, text in sources.items() if not any(text in said for said in texts)]
    if not slots and not lacking:
        return texts, found_passages(texts, sources)
    if not slots and len(lacking) < len(sources):
        raise InvalidInput(
            f"some sources are in the prompt, but not source {', '.join(map(repr, lacking))}. Write all of "
            f"them into the prompt, exactly as they are given, or none, or {SLOT} where they go."
        )
    before, after = OPENING.split(SLOT)
    after += texts[question] + ending
    if slots:
        question = next(number for number, text in enumerate(texts) if SLOT in text)
        before, after = texts[question].split(SLOT)
    text, spans = joined(before, sources)
    texts[question] = text + after
    return texts, [Passage(name, question, span) for name, span in spans.items()]


def joined(text: str, sources: Mapping[str, str]) -> tuple[str, dict[str, Span]]:
    """The text with all sources after it, each with its name before it, and where they are."""
    spans = {}
    for number, (name, source) in enumerate(sources.items()):
        text += f"[{name}] " if number == 0 else f"\n\n[{name}] "
        spans[name] = (len(text), len(text) + len(source))
        text += source
    return text, spans


def found_passages(texts: Sequence[str], sources: Mapping[str, str]) -> list[Passage]:
    """Where each source is; refused if that is not clear, or if two of them overlap.

    Sources of the same text are found in the order in which they are given.
    """
    names: dict[str, list[str]] = {}
    for name, source in sources.items():
        names.setdefault(source, []).append(name)
    found: list[Passage] = []
    for source, own in sorted(names.items(), key=lambda item: -len(item[0])):
        places = [
            (number, (start, start + len(source)))
            for number, text in enumerate(texts)
            for start in occurrences(source, text)
        ]
        free = [place for place in places if not any(is_within(place, each) for each in found)]
        if not free:
            holder = next(each.name for each in found if is_within(places[0], each))
            raise InvalidInput(
                f"source '{own[0]}' is in the prompt only as a part of source '{holder}'. Leave one out."
            )
        if len(free) != len(own):
            raise InvalidInput(
                f"source '{own[0]}' is in the prompt {len(free)} times, so it is not clear which one is "
                "meant. Write each source once."
            )
        found += [Passage(name, *place) for name, place in zip(own, free, strict=True)]
    found.sort(key=lambda each: (each.number, each.span))
    for one, other in pairwise(found):
        if one.number == other.number and other.span[0] < one.span[1]:
            raise InvalidInput(
                f"source '{one.name}' and source '{other.name}' overlap in the prompt. Leave one out."
            )
    return found


def is_within(place: tuple[int, Span], passage: Passage) -> bool:
    """Whether a place is a part of a passage."""
    number, (start, end) = place
    held = passage.span
    return number == passage.number and held[0] <= start and end <= held[1]


def occurrences(part: str, text: str) -> list[int]:
    """Where a text begins in another, each time after the one before it has ended."""
    places, start = [], text.find(part)
    while start >= 0:
        places.append(start)
        start = text.find(part, start + len(part))
    return places
