"""Answers as self-contained SVG: the text with its citations, and the units of its prompt in colour."""

from collections.abc import Iterator, Sequence

from headlight.answer import Answer
from headlight.renderers.answers.contents import (
    CITING,
    SOURCES,
    Row,
    Rows,
    beginning,
    coloured_prompt,
    described,
    has_sources,
    headline,
    is_listed,
    label,
    left_out_words,
    numbers,
    rest_words,
    rows_of,
    stretches,
)
from headlight.renderers.characters import Measure, visible, width_of
from headlight.renderers.layout import SMALL, Box, Item, Sheet, column, filled, legend, plain, text
from headlight.renderers.layout import label as small
from headlight.renderers.svg import drawing

NAMED, BEGINNING = 40, 60
"""Characters of the name of a unit, and of its text, that a line has room for."""


def svg(answers: Sequence[Answer], *, width: float = 720.0, paper: str = "light") -> str:
    """Answers, one below the other. paper: 'light', 'dark', or 'auto' as the viewer prefers."""
    about = "answer: " + "; ".join(f"{each.answer.strip()} ({headline(each)})" for each in answers)
    return drawing(answer_sheet(answers, width=width), about, paper)


def answer_sheet(
    answers: Sequence[Answer], *, width: float = 720.0, measure: Measure = width_of
) -> Sheet:
    """The layout of answers, one below the other."""
    paragraphs = [part for each in answers for part in answer_paragraphs(each, measure)]
    return column(paragraphs, width, measure)


def answer_paragraphs(answer: Answer, measure: Measure) -> Iterator[list[Item]]:
    """An answer from its headline to its notes."""
    yield small(headline(answer), "title", measure)
    yield from answer_text(answer, measure)
    if has_sources(answer):
        yield from lines(rows_of(answer.by(SOURCES)), measure)
        yield small(CITING, "note", measure)
    if answer.unit != SOURCES and is_listed(answer):
        yield from lines(rows_of(answer), measure)
    elif answer.unit != SOURCES:
        shown = coloured_prompt(answer)
        yield legend(shown, measure)
        yield from text(shown, measure)
    for note in answer.notes:
        yield small(f"note: {note}", "note", measure)
    yield []


def answer_text(answer: Answer, measure: Measure) -> list[list[Item]]:
    """The lines of the answer, with numbers of sources behind its sentences."""
    found: list[list[Item]] = [[]]
    for each in stretches(answer):
        for number, before in enumerate(each.before.split("\n")):
            if number:
                found.append([])
            found[-1] += plain(before, "piece", measure)
        for number, inner in enumerate(each.text.split("\n")):
            if number:
                found.append([])
            found[-1] += plain(inner, "special" if each.part is None else "piece", measure)
        if each.cited:
            found[-1] += plain(f" {numbers(each.cited)}", "special", measure)
    return found


def lines(found: Rows, measure: Measure) -> Iterator[list[Item]]:
    """Units line by line, each on the colour of its score, and what the colours mean."""
    yield legend(found.shown, measure)
    for row in found.rows:
        yield line(row, found, measure)
    if found.left_out:
        yield small(left_out_words(found), "note", measure)
    yield small(rest_words(found), "note", measure)


def line(row: Row, found: Rows, measure: Measure) -> list[Item]:
    """The line of one unit: its name in colour, its score, and where its text begins."""
    name = visible(label(row, NAMED))
    box = Box(name, 0, 0, measure(name, SMALL), SMALL, "note", hover=described(row, found))
    shown = filled(box, row.piece.share, found.shown.is_signed, found.shown.colours)
    gap = Item(Box("  ", 0, 0, measure("  ", SMALL), SMALL, "note"), "L")
    said = f"{described(row, found)}: {beginning(row, BEGINNING)}"
    return [Item(shown, "L"), gap, *small(said, "note", measure)]
