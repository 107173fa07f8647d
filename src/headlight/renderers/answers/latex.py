r"""Answers for a paper: the text with its citations, then sources or words on \colorbox."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from headlight.answer import Answer
from headlight.renderers.answers.contents import (
    CITING,
    SOURCES,
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
from headlight.renderers.latex import HEAD, box, boxes, escaped, notes, ragged

NAMED, BEGINNING = 40, 60
"""Characters of the name of a unit, and of its text, that a line has room for."""


def latex(answers: Sequence[Answer]) -> str:
    """Answers, one below the other."""
    return HEAD + "\n".join(map(section, answers))


def section(answer: Answer) -> str:
    """One answer under its headline."""
    return "\n".join(
        [
            f"\\noindent\\textbf{{{escaped(headline(answer))}}}\\par\\noindent",
            f"{answer_text(answer)}\\par",
            *(["\\smallskip", *lines(rows_of(answer.by(SOURCES)))] if has_sources(answer) else []),
            *([small(CITING)] if has_sources(answer) else []),
            *prompt(answer),
            notes(answer.notes),
        ]
    )


def small(words: str) -> str:
    """A line of small text."""
    return f"{{\\small {escaped(words)}\\par}}"


def answer_text(answer: Answer) -> str:
    """The answer with numbers of sources behind its sentences; what is not explained is grey."""
    found = []
    for each in stretches(answer):
        text = escaped(each.text)
        shown = f"\\textcolor{{gray}}{{{text}}}" if each.part is None and text else text
        cited = f"\\,{numbers(each.cited)}" if each.cited else ""
        found.append(f"{' ' if each.before else ''}{shown}{cited}")
    return "".join(found).strip()


def prompt(answer: Answer) -> Iterator[str]:
    """The units of the prompt, unless they are its sources."""
    if answer.unit != SOURCES:
        yield "\\smallskip\\noindent"
        yield from (
            lines(rows_of(answer))
            if is_listed(answer)
            else [ragged(boxes(coloured_prompt(answer)))]
        )


def lines(found: Rows) -> Iterator[str]:
    """Units line by line, each on the colour of its score."""
    for row in found.rows:
        named = replace(row.piece, text=label(row, NAMED))
        shown = box(named, found.shown.is_signed, found.shown.colours)
        said = f"{described(row, found)}: {beginning(row, BEGINNING)}"
        yield f"\\noindent {shown} {escaped(said)}\\par"
    if found.left_out:
        yield small(left_out_words(found))
    yield small(rest_words(found))
