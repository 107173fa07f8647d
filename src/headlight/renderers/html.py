"""A self-contained HTML fragment or page; every token is escaped, and nothing is fetched."""

from collections.abc import Sequence
from html import escape

from headlight.attribution import Attribution
from headlight.renderers.colours import Palette, hue, opacity, palette
from headlight.renderers.pieces import Piece, headline, meaning, pieces
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


@RENDERERS.register("html")
def page(attributions: Sequence[Attribution], title: str = "headlight") -> str:
    """A whole page that needs nothing else."""
    return PAGE.format(title=escape(title), body=fragment(attributions))


def fragment(attributions: Sequence[Attribution], colours: str = "blue_red") -> str:
    """The heat maps as one element to put into a page or notebook."""
    body = "\n".join(section(attribution, palette(colours)) for attribution in attributions)
    return f'<div class="headlight" style="line-height:1.9">\n{body}\n</div>'


def section(attribution: Attribution, colours: Palette) -> str:
    """One heat map with its headline, legend and notes."""
    spans = "".join(
        escape(piece.before) + span(piece, attribution.signed, colours)
        for piece in pieces(attribution)
    )
    notes = "".join(
        f'<p style="margin:.2em 0;font-size:.85em"><em>note: {escape(note)}</em></p>'
        for note in attribution.notes
    )
    return (
        f'<p style="margin:.8em 0 .2em;font-size:.85em"><strong>{escape(headline(attribution))}'
        f"</strong> &nbsp; {legend(attribution, colours)}</p>\n"
        f'<p dir="auto" style="margin:0;white-space:pre-wrap;overflow-wrap:anywhere">{spans}</p>\n{notes}'
    )


def span(piece: Piece, is_signed: bool, colours: Palette) -> str:
    """One piece on its colour; its score shows on hovering."""
    title = escape(f"{piece.text}: {piece.score:+.4g}", quote=True)
    if piece.is_special:
        return f'<span title="{title}" style="opacity:.55">{escape(piece.text)}</span>'
    return f'<span title="{title}" style="{style(piece.share, is_signed, colours)}">{escape(piece.text)}</span>'


def style(share: float, is_signed: bool, colours: Palette) -> str:
    """The style of a share of the largest score; negative ones are underlined too."""
    red, green, blue = hue(share, is_signed, colours)
    mark = ";text-decoration:underline dotted" if is_signed and share < -0.15 else ""
    return f"background:rgba({red},{green},{blue},{opacity(share)});border-radius:.2em{mark}"


def legend(attribution: Attribution, colours: Palette) -> str:
    """What the colours mean."""
    return " ".join(
        f'<span style="{style(share, attribution.signed, colours)};padding:0 .4em">{words}</span>'
        for words, share in meaning(attribution)
    )
