"""Answers in a terminal: the text with its citations, its sources as coloured rows, its prompt in colour."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from headlight.answer import Answer
from headlight.renderers.answers.contents import (
    CITING,
    SOURCES,
    Row,
    Rows,
    citations,
    coloured_prompt,
    facts,
    has_sources,
    headline,
    is_listed,
    label,
    left_out_words,
    numbers,
    percent,
    rest_words,
    rows_of,
    shortened,
    stretches,
)
from headlight.renderers.characters import lined, visible
from headlight.renderers.terminal import (
    bar,
    coloured,
    is_plain,
    legend,
    score_words,
    style_of,
    with_escapes,
)

NAMED, BEGINNING = 28, 200
"""Characters of the name of a unit, and of its text, that a row has room for."""


@dataclass(frozen=True)
class AnswerText:
    """An answer with its citations and the scores of its prompt; numbers and bars if there is no colour."""

    answer: Answer

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        answer, plain = self.answer, is_plain(console)
        yield Text(visible(headline(answer)), style="bold")
        yield answer_text(answer)
        yield Text()
        if has_sources(answer):
            yield from listed(rows_of(answer.by(SOURCES)), plain)
            yield from cited_table(answer)
        if answer.unit != SOURCES and (plain or is_listed(answer)):
            yield from listed(rows_of(answer), plain)
        elif answer.unit != SOURCES:
            shown = coloured_prompt(answer)
            yield from (coloured(shown), legend(shown))
        for note in answer.notes:
            yield Text(visible(f"note: {note}"), style="italic")


def answer_text(answer: Answer) -> Text:
    """The answer with numbers of sources behind its sentences; what is not explained is dim."""
    line = Text()
    for number, each in enumerate(stretches(answer)):
        line.append(lined(each.before) if number else "")
        line.append(lined(each.text), style="dim" if each.part is None else "")
        if each.cited:
            line.append(f" {numbers(each.cited)}", style="bold cyan")
    line.rstrip()
    return line


def listed(found: Rows, plain: bool) -> Iterator[RenderableType]:
    """Units line by line, with what is left out below them."""
    yield row_table(found, plain)
    if words := left_out_words(found):
        yield Text(words, style="dim")
    if not plain:
        yield legend(found.shown)
    yield Text(rest_words(found), style="dim")
    yield Text()


def row_table(found: Rows, plain: bool) -> Table:
    """A line for every unit: its number and name, its score, how it is cited, and where its text begins."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(found.unit, no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    if plain:
        table.add_column("", no_wrap=True)
    for name, _ in facts(found.rows[0], found):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column(
        "text"
    )  # the only one that may wrap, so it alone gives way in a narrow terminal
    for row in found.rows:
        table.add_row(*cells(row, found, plain))
    return table


def cells(row: Row, found: Rows, plain: bool) -> Iterator[RenderableType]:
    """What stands in the line of one unit."""
    style = "" if plain else style_of(row.piece.share, found.shown.is_signed, found.shown.colours)
    yield Text(visible(label(row, NAMED)), style=style)
    yield Text(score_words(row.piece.score, found.shown.is_signed))
    if plain:
        yield Text(bar(row.piece))
    yield from (Text(value) for _, value in facts(row, found))
    yield Text.assemble(
        (visible(row.before.lstrip()), "dim"),
        (visible(shortened(row.piece.text, BEGINNING)), "" if row.name else style or "bold"),
        (visible(row.after.rstrip()), "dim"),
        no_wrap=True,
        overflow="ellipsis",
    )


def cited_table(answer: Answer) -> Iterator[RenderableType]:
    """For each of several sentences, its sources with share and strength; then the rule of the citations."""
    found = [cited for _, cited in citations(answer)]
    if len(found) > 1:
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
        for name in ("sentence", "source", "share", "strength"):
            table.add_column(name, justify="left" if name == "source" else "right", no_wrap=True)
        for number, cited in enumerate(found, 1):
            for each in cited:
                source = Text(f"[{each.number + 1}] {visible(each.source)}")
                table.add_row(str(number), source, percent(each.share), percent(each.strength))
        yield table
    yield Text(CITING, style="dim")
    yield Text()


def comparison(answers: Sequence[Answer]) -> RenderableType:
    """Several answers, one below the other."""
    return Group(*(part for each in answers for part in (AnswerText(each), Text())))


def terminal(answers: Sequence[Answer]) -> str:
    """Coloured text with ANSI escapes."""
    return with_escapes(comparison(answers))
