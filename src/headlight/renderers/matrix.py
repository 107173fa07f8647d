"""Matrices of tokens: coloured cells in a terminal and in HTML."""

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from headlight.attribution import Attribution, Generation
from headlight.renderers.characters import visible
from headlight.renderers.colours import GREY, NAMES, is_marked, palette
from headlight.renderers.html import overlay
from headlight.renderers.terminal import style_of
from headlight.renderers.token_names import generation_names
from headlight.tokenmixing import TokenMixing
from headlight.tokens import outside_names, readable

NUMBERED = 20
"""Cells show numbers up to this many columns."""
EXPLAINED = 64
"""Cells have a tooltip with their score up to this many rows and columns."""
LARGEST = 96
"""At most this many rows and columns are shown in HTML, so that a page stays small."""
HEAD = (
    "writing-mode:vertical-rl;transform:rotate(180deg);text-align:left;font-weight:normal;"
    "padding:.3em 0;white-space:pre;vertical-align:bottom"
)
"""The style of a column's name: vertical, read from bottom to top."""


@dataclass(frozen=True, eq=False)
class Cells:
    """A matrix of scores with the names of its rows and columns; NaN where there is no score.

    largest: the score with the strongest colour, from the columns in the scale. note: which columns are not.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: NDArray[np.floating[Any]]
    is_signed: bool
    largest: float
    note: str = ""


def mixing_cells(mixing: TokenMixing, layer: int = -1, accumulated: bool = True) -> Cells:
    """One matrix of a token mixing: rows are output tokens, columns the input tokens mixed into them."""
    found = mixing.at(layer, accumulated=accumulated)
    number = mixing.number(layer)
    kind = "up to" if accumulated else "in"
    title = f"{mixing.method}: tokens {kind} layer {number}"
    names = readable(mixing.tokens)
    largest = float(found[:, mixing.in_scale].max())
    return Cells(title, names, names, found, False, largest, outside_note(mixing))


def generation_cells(found: Generation) -> Cells:
    """Output tokens (rows) by the input tokens before them (columns)."""
    scores = np.full((len(found.output), len(found.inputs)), np.nan)
    for row, attribution in enumerate(found.attributions):
        scores[row, : len(attribution)] = attribution.scores
    first, last = found.attributions[0], found.attributions[-1]
    scaled = scores[:, last.in_scale]
    inputs, outputs = generation_names(found)
    return Cells(
        f"{first.method}: inputs (columns) of each output token (rows) · {first.model}",
        outputs,
        inputs,
        scores,
        first.signed,
        float(np.nanmax(np.abs(scaled))) if np.isfinite(scaled).any() else 0.0,
        outside_note(last),
    )


def outside_note(found: Attribution | TokenMixing) -> str:
    """Which columns are not in the scale, and how they are drawn; '' if all are."""
    names = outside_names(found.is_special, found.is_sink)
    return f"outside the scale ({NAMES[GREY]} if beyond): {', '.join(names)}" if names else ""


# ------------------------------------------------------------------------------------- HTML


def table(cells: Cells) -> str:
    """The matrix as an HTML table, on light or dark paper."""
    rows, columns = cells.rows[:LARGEST], cells.columns[:LARGEST]
    head = "".join(f'<th style="{HEAD}">{escape(name)}</th>' for name in columns)
    lines = "".join(
        f'<tr><th style="text-align:right;font-weight:normal;padding:0 .4em;white-space:pre">'
        f"{escape(name)}</th>{line(cells, number)}</tr>"
        for number, name in enumerate(rows)
    )
    left_out = (
        f'<p style="margin:.2em 0;font-size:.85em"><em>shown: the first {len(rows)} of '
        f"{len(cells.rows)} rows and {len(columns)} of {len(cells.columns)} columns</em></p>"
        if (rows, columns) != (cells.rows, cells.columns)
        else ""
    )
    return (
        f'<div class="headlight" style="overflow-x:auto"><p style="margin:.4em 0;font-size:.85em">'
        f"<strong>{escape(cells.title)}</strong> · strongest colour: {cells.largest:.3g}"
        f"{' · ' if cells.note else ''}{escape(cells.note)}</p>\n"
        f'<table style="border-collapse:collapse;font-size:{".8em" if is_numbered(cells) else ".6em"};'
        f'line-height:1.4"><tr><td></td>{head}</tr>\n{lines}</table>{left_out}</div>'
    )


def is_numbered(cells: Cells) -> bool:
    """Whether the cells have room for numbers."""
    return len(cells.columns) <= NUMBERED


def line(cells: Cells, row: int) -> str:
    """The cells of one row."""
    return "".join(cell(cells, row, column) for column in range(min(len(cells.columns), LARGEST)))


def cell(cells: Cells, row: int, column: int) -> str:
    """One cell: its colour, its number (or a minus if there is no room), and its score as a tooltip."""
    value = float(cells.values[row, column])
    if np.isnan(value):
        return "<td></td>"
    share = value / (cells.largest or 1.0)
    fill = overlay(share, cells.is_signed, palette("blue_red"))
    if max(len(cells.rows), len(cells.columns)) > EXPLAINED:
        return f'<td style="background:{fill}">{sign(cells, share)}</td>'
    text = f"{value:.2f}".replace("-", "−") if is_numbered(cells) else sign(cells, share)
    names = f"{cells.rows[row]} ← {cells.columns[column]}: {value:+.4g}"
    return (
        f'<td title="{escape(names)}" style="background:{fill};text-align:center;'
        f'border:1px solid #8883;padding:0 .3em;min-width:.6em">{text}</td>'
    )


def sign(cells: Cells, share: float) -> str:
    """A minus in negative cells, so that they can be recognised in grey print."""
    return "−" if is_marked(share, cells.is_signed) else ""


# --------------------------------------------------------------------------------- terminal


@dataclass(frozen=True)
class MatrixMap:
    """One matrix in percent: rows are output tokens, columns the input tokens mixed into them."""

    mixing: TokenMixing
    layer: int = -1
    accumulated: bool = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = mixing_cells(self.mixing, self.layer, self.accumulated)
        yield Text(f"{cells.title}, %", style="bold")
        shown = Table(box=None, pad_edge=False, padding=(0, 0))
        shown.add_column("", justify="right", no_wrap=True)
        shown.add_column("", no_wrap=True)
        for column in range(len(cells.columns)):
            shown.add_column(str(column), justify="right", min_width=4)
        for row, token in enumerate(cells.rows):
            values = cells.values[row]
            total, most = values.sum() or 1.0, cells.largest or 1.0
            percents = [
                Text(
                    f"{100 * value / total:3.0f} ",
                    style_of(value / most, False, palette("blue_red")),
                )
                for value in values
            ]
            shown.add_row(str(row), Text(f" {visible(token)} "), *percents)
        yield shown
        if cells.note:
            yield Text(cells.note, style="dim")
