"""Attributions as text: terminal, HTML, SVG and LaTeX for people, JSON and tables for programs."""

from collections.abc import Sequence

from headlight.attribution import Attribution
from headlight.renderers import html, json, latex, svg, tables, terminal
from headlight.renderers.registry import RENDERERS

__all__ = ["RENDERERS", "html", "json", "latex", "render", "svg", "tables", "terminal"]


def render(attribution: Attribution | Sequence[Attribution], format: str = "html") -> str:  # noqa: A002
    """One attribution, or several one below the other, as text in one of the formats of RENDERERS."""
    several = [attribution] if isinstance(attribution, Attribution) else list(attribution)
    return str(RENDERERS[format].function(several))
