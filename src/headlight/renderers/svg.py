"""Heat maps as self-contained SVG: no script, no font, no external address."""

from collections.abc import Sequence
from html import escape

from headlight.attribution import Attribution
from headlight.errors import unknown_name
from headlight.renderers.characters import visible
from headlight.renderers.colours import DARK, LIGHT, PAPERS, Paper, as_hex
from headlight.renderers.comparison import panels
from headlight.renderers.layout import Box, Sheet, sheet
from headlight.renderers.pieces import headline
from headlight.renderers.registry import RENDERERS

FONTS = "system-ui, 'DejaVu Sans', 'Noto Sans', sans-serif"
ASCENT, DESCENT = 1.02, 0.3
"""How far a box reaches above and below the base line, in font sizes."""
INKS = {"piece": "ink", "title": "ink", "special": "faint", "note": "faint"}


@RENDERERS.register("svg")
def svg(
    attributions: Sequence[Attribution],
    *,
    width: float = 720.0,
    paper: str = "light",
    columns: int = 1,
    difference: bool = False,
    colours: str = "blue_red",
) -> str:
    """Heat maps, one below the other or in columns. paper: 'light', 'dark', or 'auto' as the viewer prefers."""
    shown = panels(attributions, difference=difference, colours=colours)
    found = sheet(shown, width=width, columns=columns)
    about = "heat map: " + "; ".join(headline(panel.attribution) for panel in shown)
    return drawing(found, about, paper)


def drawing(found: Sheet, about: str, paper: str) -> str:
    """A sheet as SVG, with a sentence for those who cannot see it."""
    if paper not in (*PAPERS, "auto"):
        raise unknown_name("paper", paper, (*PAPERS, "auto"))
    on = PAPERS.get(paper, LIGHT)
    classes = "headlight-" if paper == "auto" else ""
    size = f'width="{found.width:g}" height="{found.height:g}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} '
        f'viewBox="0 0 {found.width:g} {found.height:g}" role="img" aria-label="{quoted(about)}" '
        f'font-family="{FONTS}">',
        *([f"<style>{dark_rules()}</style>"] if classes else []),
        f"<rect {size} {inked('paper', on, classes)}/>",
        *(drawn(box, on, classes) for box in found.boxes),
        "</svg>\n",
    ]
    return "\n".join(lines)


def quoted(text: str) -> str:
    """Text with markup escaped."""
    return escape(visible(text), quote=True)


def inked(role: str, on: Paper, classes: str) -> str:
    """The colour of a role, and its CSS class if the paper may turn dark."""
    named = f'class="{classes}{role}" ' if classes else ""
    return f'{named}fill="{as_hex(getattr(on, role))}"'


def dark_rules() -> str:
    """CSS with the colours of dark paper, for viewers that prefer it."""
    rules = "".join(
        f".headlight-{role}{{fill:{as_hex(getattr(DARK, role))}}}"
        for role in ("paper", "ink", "faint")
    )
    rules += f".headlight-line{{stroke:{as_hex(DARK.ink)}}}"
    return f"@media (prefers-color-scheme: dark){{{rules}}}"


def drawn(box: Box, on: Paper, classes: str) -> str:
    """One box: its colour, a dotted line if it is negative, its text, and its score as a tooltip."""
    parts = [f"<title>{quoted(box.hover)}</title>"] if box.hover else []
    if box.fill is not None and box.strength:
        top, height = box.y - ASCENT * box.size, (ASCENT + DESCENT) * box.size
        parts.append(
            f'<rect x="{box.x:g}" y="{top:.2f}" width="{box.width:.2f}" height="{height:.2f}" rx="3" '
            f'fill="{as_hex(box.fill)}" fill-opacity="{box.strength:g}"/>'
        )
    ink = inked("ink" if box.fill else INKS[box.style], on, classes)
    if box.is_negative:
        parts.append(dots(box, on, classes))
    if box.text:
        parts.append(written(box, ink))
    return f"<g>{''.join(parts)}</g>"


def dots(box: Box, on: Paper, classes: str) -> str:
    """A dotted line under a negative score."""
    y = box.y + 0.17 * box.size
    named = f'class="{classes}line" ' if classes else ""
    return (
        f'<path d="M{box.x + 1:g} {y:.2f}h{box.width - 2:.2f}" {named}stroke="{as_hex(on.ink)}" '
        'stroke-width="1.6" stroke-linecap="round" stroke-dasharray="0 4"/>'
    )


def written(box: Box, ink: str) -> str:
    """The text in the middle of its box, stretched to the box's width whatever font the viewer has."""
    bold = ' font-weight="bold"' if box.style == "title" else ""
    turned = ' direction="rtl" unicode-bidi="embed"' if box.is_rtl else ""
    place = (
        f'x="{box.x:g}"'
        if box.is_label
        else f'x="{box.x + box.width / 2:.2f}" text-anchor="middle"'
    )
    return (
        f'<text {place} y="{box.y:g}" '
        f'font-size="{box.size:g}" textLength="{box.width:.2f}" lengthAdjust="spacingAndGlyphs"'
        f"{bold}{turned} {ink}>{quoted(box.text)}</text>"
    )
