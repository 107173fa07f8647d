"""What every face of an answer shows: its text with citations, and the units of its prompt with scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import exp

import numpy as np

from headlight.answer import Answer, Citation
from headlight.renderers.colours import GREY, NAMES, palette
from headlight.renderers.matrix import Cells
from headlight.renderers.pieces import ColouredText, Piece, scaled
from headlight.renderers.terminal import score_words
from headlight.tokens import named
from headlight.units import Unit, lines, unit_numbers

CITED = 0.2
"""A source is cited behind a sentence if it has at least this share of what speaks for the sentence."""
IN_PLACE = 400
"""Up to this many units are coloured in the text of the prompt; of more, the largest are listed."""
LISTED = 20
"""How many units are listed at most."""
AROUND = 30
"""Characters to either side of a listed word that show where it is."""
SOURCES = "sources"


@dataclass(frozen=True)
class Stretch:
    """A stretch of the answer's text: the number of the part that it is, None if it is not explained.

    before: the white space before it. cited: the sources that are cited behind it.
    """

    text: str
    before: str
    part: int | None
    cited: tuple[Citation, ...] = ()


@dataclass(frozen=True)
class Row:
    """A unit on a line of its own.

    number: counted from 1. name: '' for a unit that has no other name than its text. before, after: what
    surrounds it. citation: of the whole answer. through_thoughts: the part of the score that came by way of
    thoughts.
    """

    number: int
    name: str
    piece: Piece
    before: str = ""
    after: str = ""
    citation: Citation | None = None
    through_thoughts: float | None = None


@dataclass(frozen=True)
class Rows:
    """Units line by line, in the order of the prompt; `left_out` is how many smaller ones are not listed.

    rest: the scores of everything that is in no unit, added up.
    """

    unit: str
    rows: tuple[Row, ...]
    left_out: int
    rest: float
    shown: ColouredText


# ------------------------------------------------------------------------------------- in words


def headline(answer: Answer) -> str:
    """What was explained, in one line."""
    parts = [Unit("", part.start, part.end) for part in answer.parts]
    numbers = unit_numbers(parts, answer.text, answer.offsets)
    count = sum(number is not None for number in numbers)
    chance = f"probability {exp(answer.log_probability):.3g}"
    if count > 1:
        chance += f", {exp(answer.log_probability / count):.2g} per token"
    return f"{answer.method} · {chance} · {answer.model}"


def singular(unit: str) -> str:
    """The name of one unit."""
    return unit.removesuffix("s")


def scale_words(answer: Answer) -> str:
    """What the strongest colour stands for."""
    but = "" if answer.in_scale.all() else " but the first"
    return f"scale: largest {singular(answer.unit)}{but}"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.0f} %"


def shortened(text: str, length: int) -> str:
    """The beginning of a text in one line."""
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"


def left_out_words(found: Rows) -> str:
    """How many units are not listed; '' if all are."""
    return f"… and {found.left_out:,} smaller {found.unit}" if found.left_out else ""


def rest_words(found: Rows) -> str:
    """What has the rest of the scores."""
    return f"the rest of the prompt, and the answer's own words: {found.rest:+.3g}"


def numbers(cited: Sequence[Citation]) -> str:
    """The numbers of sources in brackets."""
    return "".join(f"[{each.number + 1}]" for each in cited)


def label(row: Row, length: int) -> str:
    """What a row is called: its number and name, or the beginning of its text."""
    return shortened(f"[{row.number}] {row.name}" if row.name else row.piece.text, length)


def beginning(row: Row, length: int) -> str:
    """Where the text of a row begins, or where in the prompt it is if it has no name."""
    text = row.piece.text if row.name else f"…{row.before}{row.piece.text}{row.after}…"
    return shortened(text, length)


def facts(row: Row, found: Rows) -> list[tuple[str, str]]:
    """What is known of some units only, as pairs of a name and a value; '' where this one has none."""
    known = []
    if found.unit == SOURCES:
        known.append(("share", percent(row.citation.share) if row.citation else ""))
        known.append(("strength", percent(row.citation.strength) if row.citation else ""))
    if row.through_thoughts is not None:
        known.append(("by thoughts", f"{row.through_thoughts:+.3g}"))
    return known


def described(row: Row, found: Rows) -> str:
    """The score of a row, and what else is known of it, in words."""
    score = score_words(row.piece.score, found.shown.is_signed)
    return ", ".join([score, *(f"{name} {value}" for name, value in facts(row, found) if value)])


CITING = f"cited: sources with at least {percent(CITED)} of what speaks for a sentence"
"""The rule of the citations, as it is shown below an answer that has some."""


# ------------------------------------------------------------------------- the answer's own text


def has_sources(answer: Answer) -> bool:
    """Whether the prompt of an answer has sources."""
    return SOURCES in answer.known


def citations(answer: Answer) -> list[tuple[int, tuple[Citation, ...]]]:
    """For each sentence of the answer that is explained, where it ends and the sources that are cited there."""
    if not has_sources(answer):
        return []
    found = answer.by(SOURCES).per("sentences")
    cited = []
    for number, part in enumerate(found.parts):
        each = only(found, number).cite(len(found.units))
        cited.append((part.end, tuple(c for c in each if c.share >= CITED)))
    return cited


def only(answer: Answer, part: int) -> Answer:
    """The answer with one of its parts."""
    scores = answer.scores[part : part + 1]
    return replace(answer, parts=(answer.parts[part],), scores=scores, through_thoughts=None)


def stretches(answer: Answer) -> list[Stretch]:
    """The answer from its first to its last character: explained parts, and what is between them."""
    cited = dict(citations(answer))
    found: list[Stretch] = []
    cursor = answer.prompt_end
    for number, part in enumerate(answer.parts):
        found += stretch(answer.text[cursor : part.start], None)
        found += stretch(
            answer.text[max(cursor, part.start) : part.end], number, cited.get(part.end, ())
        )
        cursor = max(cursor, part.end)
    return [*found, *stretch(answer.text[cursor:], None)]


def stretch(text: str, part: int | None, cited: tuple[Citation, ...] = ()) -> list[Stretch]:
    """A stretch of this text; none for no text, as the second token of one character has none."""
    inner = text.lstrip()
    return [Stretch(inner, text[: len(text) - len(inner)], part, cited)] if text else []


# ----------------------------------------------------------------------------- the prompt's units


def coloured_prompt(answer: Answer, part: int | None = None) -> ColouredText:
    """The prompt with its units in the colours of their scores; what is in no unit counts as special."""
    scores = answer.scores.sum(0) if part is None else answer.scores[part]
    gaps = gaps_of(answer)
    outside = unit_numbers(gaps, answer.prompt, answer.offsets)
    drafts: list[tuple[Unit, Piece]] = []
    for units, numbers, is_special in ((answer.units, answer.groups, False), (gaps, outside, True)):
        members: list[list[int]] = [[] for _ in units]
        for place, number in enumerate(numbers):
            if number is not None:
                members[number].append(place)
        for unit, places in zip(units, members, strict=True):
            drafts.append((unit, piece_of(answer, unit, places, scores, is_special)))
    ordered = sorted(drafts, key=lambda draft: draft[0].start)
    shown = scaled(with_gaps(answer.prompt, ordered))
    return ColouredText(tuple(shown), answer.signed, palette("blue_red"), scale_words(answer))


def piece_of(
    answer: Answer,
    unit: Unit,
    places: Sequence[int],
    scores: np.ndarray[tuple[int, ...], np.dtype[np.floating]],
    is_special: bool,
) -> Piece:
    """A unit, or a stretch that is in no unit, with the scores of its tokens added up."""
    text = answer.text[unit.start : unit.end]
    shown = named(text) if not text.strip() else text
    is_sink = any(answer.is_sink[place] for place in places)
    score = float(sum(scores[place] for place in places))
    return Piece(shown, score, 0.0, is_special, is_sink, "", tuple(places), None)


def gaps_of(answer: Answer) -> list[Unit]:
    """The lines of the prompt that are in no unit, without white space around them."""
    found, cursor = [], 0
    for start, end in [(u.start, u.end) for u in answer.units] + [(answer.prompt_end,) * 2]:
        spans = lines(answer.prompt[cursor:start])
        found += [Unit("", cursor + a, cursor + b) for a, b in spans]
        cursor = max(cursor, end)
    return found


def with_gaps(prompt: str, ordered: Sequence[tuple[Unit, Piece]]) -> list[Piece]:
    """Pieces in order, each with the white space before it."""
    found, cursor = [], 0
    for unit, piece in ordered:
        body = piece.text.lstrip()
        before = prompt[cursor : unit.start] + piece.text[: len(piece.text) - len(body)]
        found.append(replace(piece, text=body, before=before if cursor else ""))
        cursor = unit.end
    return found


def is_listed(answer: Answer) -> bool:
    """Whether the units of an answer are shown line by line: those with names, and too many ones."""
    return answer.unit in answer.known or len(answer.units) > IN_PLACE


def rows_of(answer: Answer) -> Rows:
    """The units of an answer line by line; of many, those with the largest scores and those that are cited."""
    shown = coloured_prompt(answer)
    pieces = [piece for piece in shown.pieces if not piece.is_special]
    chosen = set(sorted(range(len(pieces)), key=lambda n: -abs(pieces[n].score))[:LISTED])
    if answer.unit == SOURCES:
        chosen |= {each.number for _, cited in citations(answer) for each in cited}
    whole = answer.per("answer")
    cited = {c.number: c for c in whole.cite(len(whole.units))} if answer.unit == SOURCES else {}
    through = None
    if whole.through_thoughts is not None:
        through = whole.added_up(whole.through_thoughts)[0]
    rows = []
    for number in sorted(chosen):
        name, before, after = name_of(answer, number)
        sent = None if through is None else float(through[number])
        rows.append(Row(number + 1, name, pieces[number], before, after, cited.get(number), sent))
    rest = float(answer.rest.sum())
    return Rows(answer.unit, tuple(rows), len(pieces) - len(rows), rest, shown)


def name_of(answer: Answer, number: int) -> tuple[str, str, str]:
    """The name of a unit, and what surrounds one that has none."""
    unit, prompt = answer.units[number], answer.prompt
    if answer.unit in answer.known:
        return unit.name, "", ""
    return "", prompt[: unit.start][-AROUND:], prompt[unit.end : unit.end + AROUND]


def matrix_cells(answer: Answer) -> Cells:
    """Parts of the answer (rows) by units of the prompt (columns)."""
    values = answer.matrix
    scale = np.abs(values[:, answer.in_scale])
    outside = (
        "" if answer.in_scale.all() else f"outside the scale ({NAMES[GREY]} if beyond): the first"
    )
    return Cells(
        f"{answer.method}: {answer.unit} behind each part of the answer · {answer.model}",
        tuple(named(shortened(text, 40)) for text in answer.part_texts),
        tuple(named(shortened(name, 40)) for name in (unit.name for unit in answer.units)),
        values,
        answer.signed,
        float(scale.max()) if scale.size else 0.0,
        outside,
    )
