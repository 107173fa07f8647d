"""Answers as text: terminal, HTML, SVG and LaTeX for people, JSON and tables for programs."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from headlight.answer import Answer
from headlight.errors import InvalidInput, unknown_name
from headlight.renderers.answers import html, latex, svg, tables, terminal
from headlight.renderers.json import as_json, as_json_lines

FORMATS: Mapping[str, Callable[[Sequence[Answer]], str]] = MappingProxyType(
    {
        "html": html.page,
        "terminal": terminal.terminal,
        "svg": svg.svg,
        "latex": latex.latex,
        "json": as_json,
        "jsonl": as_json_lines,
        "csv": tables.as_csv,
        "tsv": tables.as_tsv,
    }
)
"""Every format of answers by name."""


def render_answers(answers: Sequence[Answer], format: str) -> str:  # noqa: A002
    """Answers, one below the other, as text in one of these formats."""
    if format not in FORMATS:
        raise unknown_name("format of answers", format, FORMATS)
    if not answers:
        raise InvalidInput("there is no answer to show. Give at least one.")
    return FORMATS[format](answers)
