"""Coloured text for a terminal, or a plain table if the terminal has no colour."""

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from headlight.attribution import Attribution, Generation
from headlight.renderers.characters import lined, visible
from headlight.renderers.colours import (
    DARK,
    PALETTES,
    Palette,
    is_beyond,
    is_marked,
    palette,
    shade,
)
from headlight.renderers.comparison import differences
from headlight.renderers.pieces import ColouredText, Piece, coloured_text, headline
from headlight.renderers.registry import RENDERERS
from headlight.renderers.token_names import generation_names
from headlight.tokens import outside_names

FAINTEST = 0.06
"""Smaller shares keep the colours of the terminal, so that they look right on dark and on light."""
BAR_WIDTH = 16
BEYOND = "…"
"""The end of a bar that would be longer."""


@dataclass(frozen=True)
class HeatMap:
    """A heat map in colour, or as numbers and bars if the console has no colour."""

    attribution: Attribution
    colours: Palette = PALETTES["blue_red"]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(headline(self.attribution), style="bold")
        shown = coloured_text(self.attribution, self.colours)
        if is_plain(console):
            yield score_table(shown)
        else:
            yield coloured(shown)
            yield legend(shown)
        for note in self.attribution.notes:
            yield Text(f"note: {note}", style="italic")


def is_plain(console: Console) -> bool:
    """Whether a console shows no colours."""
    return console.no_color or console.color_system is None


def style_of(share: float, is_signed: bool, colours: Palette) -> str:
    """A rich style for a share of the largest score."""
    if abs(share) < FAINTEST:
        return ""
    red, green, blue = shade(share, is_signed, colours, DARK)
    mark = " underline" if is_marked(share, is_signed) else ""
    return f"rgb(255,255,255) on rgb({red},{green},{blue}){mark}"


def coloured(shown: ColouredText) -> Text:
    """The text with the colour of its score under every piece; special tokens are dim."""
    line = Text()
    for piece in shown.pieces:
        line.append(lined(piece.before))
        style = "dim" if piece.is_special else style_of(piece.share, shown.is_signed, shown.colours)
        line.append(lined(piece.text), style=style)
    return line


def legend(shown: ColouredText) -> Text:
    """What the colours mean."""
    line = Text()
    for word, share in shown.meaning:
        line.append(word, style=style_of(share, shown.is_signed, shown.colours))
        line.append("  ")
    line.append(shown.scale, style="dim")
    return line


def score_table(shown: ColouredText) -> Table:
    """Numbers and bars, for terminals without colour and for files; special tokens have no bar."""
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(justify="right")
    table.add_column(justify="right")
    table.add_column()
    for piece in shown.pieces:
        number = score_words(piece.score, shown.is_signed)
        table.add_row(Text(visible(piece.text)), number, bar(piece))
    return table


def score_words(score: float, is_signed: bool) -> str:
    """A score in three digits."""
    return f"{score:+.3g}" if is_signed else f"{score:.3g}"


def bar(piece: Piece) -> str:
    """A row of signs as long as the share of a piece; special tokens have none."""
    if piece.is_special:
        return ""
    length = round(min(abs(piece.share), 1) * BAR_WIDTH)
    return ("+" if piece.share >= 0 else "-") * length + BEYOND * is_beyond(piece.share)


def comparison(attributions: Sequence[Attribution]) -> RenderableType:
    """Several heat maps, one below the other."""
    return Group(*(part for a in attributions for part in (HeatMap(a), Text())))


def difference_maps(attributions: Sequence[Attribution]) -> RenderableType:
    """Where the first gives a larger share than each of the others (green), and where a smaller (orange)."""
    maps = [HeatMap(each, palette("difference")) for each in differences(attributions)]
    first = attributions[0].method
    title = Text(f"green: {first} gives more than the other; orange: less", style="dim")
    return Group(title, *(part for each in maps for part in (each, Text())))


def matrix_table(generation: Generation) -> Table:
    """The strongest inputs of every output token, without those beyond the scale."""
    table = Table(title="strongest inputs of each output token")
    table.add_column("output", no_wrap=True)
    table.add_column("strongest inputs")
    inputs, outputs = generation_names(generation)
    for output, attribution in zip(outputs, generation.attributions, strict=True):
        best = attribution.top(6)
        table.add_row(
            Text(visible(output)),
            Text("  ".join(f"{visible(inputs[place])} {score:+.3g}" for _, score, place in best)),
        )
    last = generation.attributions[-1]
    if names := outside_names(last.is_special, last.is_sink):
        table.caption = f"left out where beyond the scale: {', '.join(names)}"
    return table


@RENDERERS.register("terminal")
def terminal(attributions: Sequence[Attribution]) -> str:
    """Coloured text with ANSI escapes."""
    return with_escapes(comparison(attributions))


def with_escapes(shown: RenderableType) -> str:
    """What a terminal of 100 columns with all colours would show."""
    console = Console(
        file=StringIO(), force_terminal=True, color_system="truecolor", no_color=False, width=100
    )
    console.print(shown)
    return str(console.file.getvalue())  # type: ignore[attr-defined]
