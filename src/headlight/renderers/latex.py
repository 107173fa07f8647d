r"""\colorbox tokens for a paper; needs \usepackage[T1]{fontenc} and \usepackage{xcolor}."""

from collections.abc import Sequence

from headlight.attribution import Attribution
from headlight.renderers.colours import Palette, is_marked, palette, shade
from headlight.renderers.pieces import ColouredText, Piece, coloured_text, headline
from headlight.renderers.registry import RENDERERS

ESCAPES = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "\n": " ",
    **{c: f"\\{c}" for c in "&%$#_{}"},
}

HEAD = "% needs \\usepackage[T1]{fontenc} and \\usepackage{xcolor}\n"


@RENDERERS.register("latex")
def latex(attributions: Sequence[Attribution]) -> str:
    """Paragraphs of coloured tokens."""
    return HEAD + "\n".join(paragraph(a, palette("blue_red")) for a in attributions)


def paragraph(attribution: Attribution, colours: Palette) -> str:
    """One heat map under its headline."""
    shown = coloured_text(attribution, colours)
    return (
        f"\\noindent\\textbf{{{escaped(headline(attribution))}}}\\\\\n"
        f"{ragged(boxes(shown))}\n{notes(attribution.notes)}"
    )


def ragged(content: str) -> str:
    """Coloured boxes as a paragraph that is not stretched."""
    return f"{{\\setlength{{\\fboxsep}}{{1pt}}\\raggedright {content}\\par}}"


def notes(several: Sequence[str]) -> str:
    """Notes, one below the other."""
    return "".join(f"\\emph{{note: {escaped(note)}}}\\par\n" for note in several)


def boxes(shown: ColouredText) -> str:
    """The pieces of a text and what is between them."""
    return "".join(
        (" " if piece.before.strip(" \n\t") == "" and piece.before else escaped(piece.before))
        + box(piece, shown.is_signed, shown.colours)
        for piece in shown.pieces
    )


def box(piece: Piece, is_signed: bool, colours: Palette) -> str:
    """One token on the colour of its score."""
    if piece.is_special:
        return f"\\textcolor{{gray}}{{{escaped(piece.text)}}}"
    colour = shade(piece.share, is_signed, colours)
    numbers = ",".join(f"{c / 255:.3f}" for c in colour)
    text = escaped(piece.text)
    shown = f"\\underline{{{text}}}" if is_marked(piece.share, is_signed) else text
    return f"\\colorbox[rgb]{{{numbers}}}{{\\strut {shown}}}"


def escaped(text: str) -> str:
    """Text with every special character of LaTeX escaped."""
    return "".join(ESCAPES.get(c, c) for c in text)
