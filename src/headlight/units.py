"""Units of a text: words, sentences, lines, paragraphs and other stretches of it, by name.

A unit is a stretch of characters. Every function here returns units that do not overlap, in order, without the
white space around them; characters between two units belong to none.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Integral
from types import MappingProxyType
from typing import Any

import regex

from headlight.errors import InvalidInput, InvalidOption, unknown_name

Span = tuple[int, int]
"""The first character of a stretch of text, and the one after its last."""

WORD = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}]"
    r"|[\p{L}\p{M}\p{N}_]+(?:['’][\p{L}\p{M}]+)*"
    r"|[^\s\p{L}\p{M}\p{N}_][^\s\p{L}\p{N}_]*"
)
NEVER_LAST = frozenset(
    ("Dr", "Mr", "Mrs", "Ms", "Prof", "St", "vs", "e.g", "i.e", "cf", "approx", "U.S", "U.K")
)
"""Words with a full stop that does not end a sentence."""
MAYBE_LAST = frozenset(
    ("etc", "al", "a.m", "p.m", "Inc", "Ltd", "Co", "Corp", "Sr", "Jr", "Ph.D", "dept", "est")
)
"""Words whose full stop ends a sentence only if a capital letter follows."""
MONTHS = ("Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec")
BEFORE_NUMBER = frozenset(("No", "Fig", "Eq", "Vol", "pp", "p", *MONTHS))
"""Words whose full stop does not end a sentence if a number follows."""
LONGEST_ABBREVIATION = 12
CLOSING = "\"'”’»)\\]」』）"
"""What may stand between the stop of a sentence and its end, within a class of a pattern."""
STOP = regex.compile(
    rf"[.!?…]+[{CLOSING}]*(?=\s)|[。！？]+[{CLOSING}]*|[؟۔।॥]+[{CLOSING}]*|\n\s*\n"
    r"|\n(?=[ \t]*(?:[-*•–]|\(?\d{1,3}[.)])[ \t])"
)
"""Where a sentence may end: at a stop before white space, at one of a script that needs no white space, at an
empty line, or before an item of a list."""
ITEM = regex.compile(r"^[ \t]*(?:[-*•–]|\(?\d{1,3}[.)]|\(?[A-Za-z][.)])[ \t]+", regex.MULTILINE)
"""What begins an item of a list: a bullet, or a number or letter with a dot or bracket."""
HEAD = regex.compile(r"([\p{L} ]{1,30}):")
"""What begins a worked example: words before a colon."""
EMPTY_LINE = regex.compile(r"\n[ \t\r]*\n\s*")


@dataclass(frozen=True)
class Unit:
    """A stretch of text with a name for people, such as a word, a sentence or a source."""

    name: str
    start: int
    end: int


def words(text: str) -> Iterator[Span]:
    """Runs of letters and digits, runs of punctuation, single ideographs."""
    return (match.span() for match in WORD.finditer(text))


def lines(text: str) -> Iterator[Span]:
    """Lines that are not empty."""
    return stripped(text, cut_at(text, [m.end() for m in regex.finditer("\n", text)]))


def paragraphs(text: str) -> Iterator[Span]:
    """What empty lines separate."""
    return stripped(text, cut_at(text, [m.end() for m in EMPTY_LINE.finditer(text)]))


def sentences(text: str) -> Iterator[Span]:
    """Sentences, by their stops. Abbreviations, initials and numbers such as 3.5 do not end one."""
    ends = [m.end() for m in STOP.finditer(text) if not is_inner(text, m)]
    return stripped(text, cut_at(text, ends))


def is_inner(text: str, stop: "regex.Match[str]") -> bool:
    """Whether a sentence goes on after a stop: one of an abbreviation, an initial, a quotation or a pause."""
    after = text[stop.end() : stop.end() + LONGEST_ABBREVIATION].lstrip()[:1]
    said = stop.group()
    if said != ".":
        is_pause = len(said) > 1 and said[0] in ".!?…"
        return is_pause and after.islower()
    before = text[max(0, stop.start() - LONGEST_ABBREVIATION) : stop.start()]
    found = regex.search(r"[\p{L}.]*$", before)
    word = found.group() if found else ""
    if not word:  # the number of an item in a list
        return bool(regex.search(r"(?:^|\n)[ \t]*\d{1,3}$", before))
    is_initial = len(word) == 1 and word.isupper()
    return (
        is_initial
        or word in NEVER_LAST
        or (word in MAYBE_LAST and not after.isupper())
        or (word in BEFORE_NUMBER and after.isdigit())
    )


def items(text: str) -> Iterator[Span]:
    """Items of lists, each up to the next item or an empty line; what is in no list is in no unit."""
    starts = [match.start() for match in ITEM.finditer(text)]
    breaks = sorted({*starts, *(m.start() for m in EMPTY_LINE.finditer(text)), len(text)})
    return stripped(text, [(start, breaks[bisect_right(breaks, start)]) for start in starts])


def examples(text: str) -> Iterator[Span]:
    """Worked examples of a prompt: stretches that begin alike, with the same words before a colon.

    They begin at paragraphs, or, if fewer than two of these begin alike, at lines. Each reaches to the next;
    the last, often the question itself, to the end.
    """
    for split in (paragraphs, lines):
        heads = [(start, HEAD.match(text, start, end)) for start, end in split(text)]
        counted = Counter(head.group(1) for _, head in heads if head)
        often, count = counted.most_common(1)[0] if counted else ("", 0)
        if count > 1:
            starts = [start for start, head in heads if head and head.group(1) == often]
            return stripped(text, cut_at(text, starts)[1:])
    return iter(())


def cut_at(text: str, ends: Iterable[int]) -> list[Span]:
    """The stretches between these places."""
    places = [0, *ends, len(text)]
    return list(pairwise(places))


def stripped(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """Spans without the white space around them; those that hold nothing else are left out."""
    for start, end in spans:
        inner = text[start:end]
        left = len(inner) - len(inner.lstrip())
        if inner.strip():
            yield start + left, start + left + len(inner.strip())


UNITS: Mapping[str, Callable[[str], Iterable[Span]]] = MappingProxyType(
    {
        "words": words,
        "sentences": sentences,
        "lines": lines,
        "paragraphs": paragraphs,
        "items": items,
        "examples": examples,
    }
)
"""Units that can be found in any text, by name."""

Units = str | Sequence[Span] | Callable[[str], Iterable[Span]]
"""How units are asked for: a name, spans of characters, or a function that finds them in a text."""


def units_of(
    text: str,
    asked: Units,
    known: Mapping[str, Sequence[Unit]] | None = None,
    within: Sequence[Unit] = (),
) -> list[Unit]:
    """The units of a text; refused if there are none, if they overlap or if they are not in the text.

    known: units that were given with the text, such as its sources. within: the stretches in which units are
    looked for by name, such as the turns of a chat; by default the whole text.
    """
    known = known or {}
    name = f"units='{asked}'" if isinstance(asked, str) else "units"
    if isinstance(asked, str) and asked in known:
        return list(known[asked])
    spans = checked_spans(text, found_units(text, asked, known, within), name)
    if not spans:
        raise InvalidInput(
            f"{name}: the text has none of these. Choose other units, such as 'words'."
        )
    return [Unit(text[start:end], start, end) for start, end in spans]


def found_units(
    text: str, asked: Units, known: Mapping[str, Sequence[Unit]], within: Sequence[Unit]
) -> list[Any]:
    """The spans of units as they were found or given, not yet checked."""
    if isinstance(asked, str):
        if asked not in UNITS:
            raise unknown_name("unit", asked, ["tokens", *UNITS, *known])
        stretches = [(each.start, each.end) for each in within] or [(0, len(text))]
        return [
            (start + a, start + b)
            for start, end in stretches
            for a, b in UNITS[asked](text[start:end])
        ]
    spans: Any = asked(text) if callable(asked) else asked
    if isinstance(spans, str | Mapping) or not isinstance(spans, Iterable):
        made = f"what the function returned, {spans!r}," if callable(asked) else repr(spans)
        raise InvalidOption(
            f"units: {made} is no list of spans. Give a name, such as 'words', a list of "
            "(first character, character after the last), or a function that returns such a list."
        )
    return list(spans)


def checked_spans(text: str, given: Any, name: str) -> list[Span]:
    """Spans in the order of the text; refused if one is empty, not in the text, or overlaps another."""
    spans = [plain_span(span, name) for span in given]
    for start, end in spans:
        if not 0 <= start < end <= len(text):
            raise InvalidInput(
                f"{name}: ({start}, {end}) is no stretch of the text, which has {len(text)} characters. "
                "Give (first character, character after the last)."
            )
        if not text[start:end].strip():
            raise InvalidInput(f"{name}: ({start}, {end}) covers only white space.")
    spans.sort()
    for (start, end), (later, last) in pairwise(spans):
        if later < end:
            raise InvalidInput(f"{name}: ({start}, {end}) and ({later}, {last}) overlap.")
    return spans


def plain_span(span: Any, name: str) -> Span:
    """A pair of whole numbers."""
    is_pair = isinstance(span, list | tuple) and len(span) == 2
    if not is_pair or not all(isinstance(n, Integral) and not isinstance(n, bool) for n in span):
        raise InvalidOption(
            f"{name}: {span!r} is not a pair (first character, character after the last)."
        )
    return int(span[0]), int(span[1])


def unit_numbers(units: Sequence[Unit], text: str, offsets: Sequence[Span]) -> list[int | None]:
    """The number of the unit to which each token belongs; None if it is in no unit.

    A token belongs to the unit that holds its first character that is not a space. So one that reaches over
    the border of two units belongs to the one in which it begins.
    """
    starts = [unit.start for unit in units]
    numbers: list[int | None] = []
    for span in offsets:
        place = begin(text, span)
        number = bisect_right(starts, place) - 1
        is_inside = number >= 0 and place < units[number].end
        numbers.append(number if is_inside else None)
    return numbers


def begin(text: str, span: Span) -> int:
    """The first character of a token that is not a space; -1 for a token without text."""
    start, end = span
    inner = text[start:end]
    if not inner:
        return -1
    return start + len(inner) - len(inner.lstrip()) if inner.strip() else start


def prompt_units(
    prompt: str,
    asked: Units,
    known: Mapping[str, Sequence[Unit]],
    offsets: Sequence[Span],
    is_special: Sequence[bool],
) -> tuple[Unit, ...]:
    """The units of a prompt that hold at least one of its tokens that are not special."""
    if asked == "tokens":
        spans = [
            span
            for span, special in zip(offsets, is_special, strict=True)
            if not special and span[0] < span[1] <= len(prompt)
        ]
        return tuple(Unit(prompt[a:b], a, b) for a, b in sorted(set(spans)))
    units = units_of(prompt, asked, known, within=known.get("turns", ()))
    numbers = unit_numbers(units, prompt, offsets)
    held = {n for n, special in zip(numbers, is_special, strict=True) if not special}
    kept = tuple(unit for number, unit in enumerate(units) if number in held)
    if not kept:
        raise InvalidInput(
            "the units cover no token of the prompt. Choose larger ones, or others, such as 'words'."
        )
    return kept
