"""Attributions and answers as text: terminal, HTML, SVG and LaTeX for people, JSON and tables for programs."""

from collections.abc import Sequence

from headlight.answer import Answer
from headlight.attribution import Attribution
from headlight.errors import InvalidInput
from headlight.renderers import html, json, latex, svg, tables, terminal
from headlight.renderers.answers import render_answers
from headlight.renderers.registry import RENDERERS

__all__ = ["RENDERERS", "html", "json", "latex", "render", "svg", "tables", "terminal"]

Shown = Attribution | Answer | Sequence[Attribution] | Sequence[Answer]


def render(attribution: Shown, format: str = "html") -> str:  # noqa: A002
    """One attribution or answer, or several one below the other, as text in one of the formats of RENDERERS."""
    several = [attribution] if isinstance(attribution, Attribution | Answer) else list(attribution)
    answers = [each for each in several if isinstance(each, Answer)]
    if answers and len(answers) < len(several):
        raise InvalidInput("attributions and answers were given together. Render them one by one.")
    return render_answers(answers, format) if answers else str(RENDERERS[format].function(several))
