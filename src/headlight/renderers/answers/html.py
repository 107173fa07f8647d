"""Answers as self-contained HTML. Point at a part of the answer, or focus it, and its units light up.

Without its style sheet, as in a notebook that is not trusted, the fragment still reads well: the scores of the
whole answer are written into it. No script is needed.
"""

from collections.abc import Sequence
from hashlib import sha256

from headlight.answer import Answer, Citation
from headlight.renderers.answers.contents import (
    CITING,
    SOURCES,
    Row,
    Rows,
    Stretch,
    coloured_prompt,
    facts,
    has_sources,
    headline,
    is_listed,
    label,
    left_out_words,
    percent,
    rest_words,
    rows_of,
    shortened,
    stretches,
)
from headlight.renderers.colours import as_hex, hue, is_marked, opacity
from headlight.renderers.html import PAGE, legend, notes, paragraph, safe, style
from headlight.renderers.pieces import ColouredText, Piece
from headlight.renderers.terminal import FAINTEST, score_words

LIT = 64
"""At most this many parts of an answer can be pointed at, so that a page stays small."""
NAMED, BEGINNING = 40, 110
"""Characters of the name of a unit, and of a source before it is opened."""
SMALL = "margin:.2em 0;font-size:.85em"
LINE = "display:flex;flex-wrap:wrap;align-items:flex-start;gap:0 1em;line-height:1.6;margin:.1em 0"
WIDTHS = ("6em", "7.5em", "9em")
"""Of the share, the strength and the part that came by way of thoughts."""
HINT = "Point at a part of the answer, or reach it with the tab key, to see what carries it."


def page(answers: Sequence[Answer], title: str = "headlight") -> str:
    """A complete, self-contained page."""
    return PAGE.format(title=safe(title), body="\n".join(map(fragment, answers)))


def fragment(answer: Answer) -> str:
    """An answer as one element for a page or notebook."""
    name = f"headlight-{digest(answer)}"
    lit = len(answer.parts) if 1 < len(answer.parts) <= LIT else 0
    body = [
        f'<p style="margin:.8em 0 .2em;font-size:.85em"><strong>{safe(headline(answer))}</strong></p>',
        paragraph("".join(written(each, name, lit) for each in stretches(answer)).strip()),
    ]
    if lit:
        body.append(f'<p style="{SMALL}"><em>{HINT}</em></p>')
    if has_sources(answer):
        body.append(listed(answer.by(SOURCES), name, lit))
        body.append(f'<p style="{SMALL}"><em>{CITING}</em></p>')
    if answer.unit != SOURCES:
        body.append(listed(answer, name, lit) if is_listed(answer) else in_place(answer, lit))
    return (
        f'<div class="headlight {name}" style="line-height:1.9">\n{rules(name, lit)}'
        + "\n".join(body)
        + f"\n{notes(answer.notes)}</div>"
    )


def digest(answer: Answer) -> str:
    """A short name that no other answer on a page has, and that is the same whenever it is drawn."""
    facts = (answer.text, answer.method, answer.unit, answer.units, answer.parts)
    return sha256(repr(facts).encode() + answer.scores.tobytes()).hexdigest()[:10]


# ------------------------------------------------------------------------- the answer's own text


def written(each: Stretch, name: str, lit: int) -> str:
    """A stretch of the answer with its citations; a part that units light up for can be pointed at."""
    text = safe(each.text)
    if each.part is None:
        shown = f'<span style="opacity:.6">{text}</span>' if text.strip() else text
    elif lit:
        shown = (
            f'<span class="part p{each.part}" tabindex="0" style="border-bottom:1px dashed #8888;'
            f'cursor:pointer">{text}</span>'
        )
    else:
        shown = text
    return safe(each.before) + shown + "".join(linked(cited, name) for cited in each.cited)


def linked(cited: Citation, name: str) -> str:
    """The number of a source as a link to it; a tooltip says how much it carries."""
    about = f"{cited.source}: share {percent(cited.share)}, strength {percent(cited.strength)}"
    return (
        f'<sup><a href="#{name}-{cited.number + 1}" title="{safe(about)}" '
        f'style="text-decoration:none">[{cited.number + 1}]</a></sup>'
    )


# ----------------------------------------------------------------------------- the prompt's units


def in_place(answer: Answer, lit: int) -> str:
    """The prompt with its units in colour."""
    shown = coloured_prompt(answer)
    parts = [coloured_prompt(answer, part).pieces for part in range(lit)]
    spans = []
    for number, piece in enumerate(shown.pieces):
        title = safe(f"{piece.text}: {piece.score:+.4g}")
        look = (
            "opacity:.6" if piece.is_special else style(piece.share, answer.signed, shown.colours)
        )
        own = [] if piece.is_special else [pieces[number] for pieces in parts]
        kind = "" if piece.is_special else ' class="unit"'
        spans.append(
            f'{safe(piece.before)}<span{kind} title="{title}" style="{look}{lights(own, shown)}">'
            f"{safe(piece.text)}</span>"
        )
    return f"{colour_words(shown)}\n{paragraph(''.join(spans))}"


def colour_words(shown: ColouredText) -> str:
    """What the colours mean, and what the strongest stands for."""
    return f'<p style="margin:.8em 0 .2em;font-size:.85em">{legend(shown)} {safe(shown.scale)}</p>'


def lights(parts: Sequence[Piece], shown: ColouredText) -> str:
    """The colours of a unit for each part of the answer, as variables that the rules of the fragment use."""
    found = []
    for number, piece in enumerate(parts):
        if abs(piece.share) >= FAINTEST:
            strength = f"{round(opacity(piece.share) * 255):02x}"
            colour = as_hex(hue(piece.share, shown.is_signed, shown.colours)) + strength
            found.append(f";--c{number}:{colour}")
        if is_marked(piece.share, shown.is_signed):
            found.append(f";--d{number}:underline dotted")
    return "".join(found)


def rules(name: str, lit: int) -> str:
    """The style sheet that lights units up; pointing comes last, so that it wins over what has the focus."""
    lines = [
        f".{name}:has(.p{part}:{state}) .unit{{background:var(--c{part},transparent)!important;"
        f"text-decoration:var(--d{part},none)!important}}"
        f".{name}:has(.p{part}:{state}) .score>span{{display:none}}"
        f'.{name}:has(.p{part}:{state}) .score::after{{content:var(--n{part},"")}}'
        for state in ("focus", "hover")
        for part in range(lit)
    ]
    if not lines:
        return ""
    own = f".{name} .part:is(:hover,:focus){{outline:2px solid #8888;border-radius:.2em}}"
    return f"<style>{own}{''.join(lines)}</style>\n"


def listed(answer: Answer, name: str, lit: int) -> str:
    """Units line by line."""
    found = rows_of(answer)
    order = [n for n, piece in enumerate(found.shown.pieces) if not piece.is_special]
    parts = [coloured_prompt(answer, part).pieces for part in range(lit)]
    lines = []
    for row in found.rows:
        own = [pieces[order[row.number - 1]] for pieces in parts]
        lines.append(line(row, found, own, f"{name}-{row.number}"))
    left_out = f"{safe(left_out_words(found))} · " if found.left_out else ""
    return (
        f"{colour_words(found.shown)}\n{''.join(lines)}"
        f'<p style="{SMALL}">{left_out}{safe(rest_words(found))}</p>'
    )


def line(row: Row, found: Rows, parts: Sequence[Piece], name: str) -> str:
    """The line of one unit, whose text goes below on a phone; its score is that of the part in focus."""
    shown, piece = found.shown, row.piece
    look = style(piece.share, shown.is_signed, shown.colours)
    numbers = "".join(
        f";--n{number}:'{score_words(each.score, shown.is_signed)}'"
        for number, each in enumerate(parts)
    )
    known = "".join(
        f'<span style="min-width:{width}">{title} {value}</span>' if value else ""
        for (title, value), width in zip(facts(row, found), WIDTHS, strict=False)
    )
    place = f' id="{name}"' if found.unit == SOURCES else ""
    return (
        f'<div{place} style="{LINE}"><div style="{LINE}"><span style="min-width:9em"><span class="unit" '
        f'style="{look}{lights(parts, shown)};padding:0 .3em">{safe(label(row, NAMED))}</span></span>'
        f'<span class="score" style="min-width:4em;text-align:right{numbers}"><span>'
        f"{score_words(piece.score, shown.is_signed)}</span></span>{known}</div>"
        f'<div dir="auto" style="flex:1 1 18em;margin:.1em 0">{text_of(row)}</div></div>\n'
    )


def text_of(row: Row) -> str:
    """The text of a unit, which opens if it is long; of a word also what surrounds it."""
    text = row.piece.text
    if not row.name:
        return f"…{safe(row.before)}<strong>{safe(text)}</strong>{safe(row.after)}…"
    start = shortened(text, BEGINNING)
    if len(start) == len(text):
        return safe(text)
    return (
        f'<details><summary style="cursor:pointer">{safe(start)}</summary>'
        f'<div style="white-space:pre-wrap">{safe(text)}</div></details>'
    )
