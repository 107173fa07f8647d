"""A self-contained HTML fragment or page; every token is escaped, and nothing is fetched."""

from collections.abc import Sequence
from html import escape

from headlight.attribution import Attribution
from headlight.renderers.characters import harmless
from headlight.renderers.colours import Palette, hue, is_marked, opacity
from headlight.renderers.comparison import Panel, are_of_one_text, panels
from headlight.renderers.pieces import ColouredText, Piece, coloured_text, headline
from headlight.renderers.registry import RENDERERS

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 16px/1.6 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""
SIDE_BY_SIDE = (
    "display:grid;gap:0 2em;grid-template-columns:repeat(auto-fit,minmax(min(22em,100%),1fr))"
)
"""Columns if there is room for them, one below the other on a phone."""


def safe(text: str) -> str:
    """Text with markup escaped, and without characters that reverse the text after them."""
    return escape(harmless(text))


@RENDERERS.register("html")
def page(
    attributions: Sequence[Attribution], title: str = "headlight", *, difference: bool = False
) -> str:
    """A complete, self-contained page."""
    return PAGE.format(title=safe(title), body=fragment(attributions, difference=difference))


def fragment(
    attributions: Sequence[Attribution], colours: str = "blue_red", *, difference: bool = False
) -> str:
    """The heat maps as one element for a page or notebook; those of the same text are side by side.

    difference: also show where the first gives more or less than each of the others.
    """
    shown = panels(attributions, difference=difference, colours=colours)
    body = "\n".join(
        section(panel, begins_row=number == len(attributions)) for number, panel in enumerate(shown)
    )
    grid = f";{SIDE_BY_SIDE}" if are_of_one_text(attributions) else ""
    return f'<div class="headlight" style="line-height:1.9{grid}">\n{body}\n</div>'


def section(panel: Panel, begins_row: bool = False) -> str:
    """One heat map with its headline, legend and notes; the direction of writing is set line by line."""
    attribution = panel.attribution
    shown = coloured_text(attribution, panel.colours)
    place = "min-width:0;grid-column-start:1" if begins_row else "min-width:0"
    return (
        f'<div style="{place}"><p style="margin:.8em 0 .2em;font-size:.85em"><strong>'
        f"{safe(headline(attribution))}</strong> &nbsp; {legend(shown)}</p>\n"
        f"{paragraph(spans(shown))}\n{notes(attribution.notes)}</div>"
    )


def paragraph(content: str) -> str:
    """Text as it was written, with its spaces and line breaks, each line in its own direction of writing."""
    return (
        '<p dir="auto" style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere;'
        f'unicode-bidi:plaintext;text-align:start">{content}</p>'
    )


def notes(several: Sequence[str]) -> str:
    """Notes, one below the other."""
    return "".join(
        f'<p style="margin:.2em 0;font-size:.85em"><em>note: {safe(note)}</em></p>'
        for note in several
    )


def spans(shown: ColouredText) -> str:
    """The pieces of a text and what is between them."""
    return "".join(
        safe(piece.before) + span(piece, shown.is_signed, shown.colours) for piece in shown.pieces
    )


def span(piece: Piece, is_signed: bool, colours: Palette) -> str:
    """One piece on the colour of its score, which a tooltip shows."""
    title = safe(f"{piece.text}: {piece.score:+.4g}")
    # bdi: a Latin [CLS] must not make a line of Arabic run from the left.
    if piece.is_special:
        return f'<bdi title="{title}" style="opacity:.6">{safe(piece.text)}</bdi>'
    return f'<span title="{title}" style="{style(piece.share, is_signed, colours)}">{safe(piece.text)}</span>'


def style(share: float, is_signed: bool, colours: Palette) -> str:
    """The style of a share of the largest score; clearly negative ones are also underlined."""
    mark = ";text-decoration:underline dotted" if is_marked(share, is_signed) else ""
    return f"background:{overlay(share, is_signed, colours)};border-radius:.2em{mark}"


def overlay(share: float, is_signed: bool, colours: Palette) -> str:
    """A colour that lets light or dark paper through."""
    red, green, blue = hue(share, is_signed, colours)
    return f"rgba({red},{green},{blue},{opacity(share)})"


def legend(shown: ColouredText) -> str:
    """What the colours mean."""
    return " ".join(
        f'<span style="{style(share, shown.is_signed, shown.colours)};padding:0 .4em">{words}</span>'
        for words, share in shown.meaning
    )
