"""Head masks as a map of layers and heads, with what the heads do."""

from collections.abc import Sequence
from html import escape
from math import ceil

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from headlight.headmask import HeadMask
from headlight.renderers.colours import HEAD_KINDS, as_hex, ink_on

MARKS = {
    "syntactic": ("S", "bold cyan"),
    "positional": ("P", "bold magenta"),
    "both": ("B", "bold yellow"),
    "kept": ("X", "bold green"),
    None: ("·", "dim"),
}


class HeadMap:
    """The map of the paper's Figure 5: S syntactic, P positional, B both; X heads of another part."""

    def __init__(self, mask: HeadMask) -> None:
        self.mask = mask

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        layers, heads = self.mask.heads.shape
        table = Table(box=None, pad_edge=False, padding=(0, 1))
        table.add_column("layer", justify="right")
        numbers = range(1, heads + 1)
        for head in numbers:
            table.add_column(str(head), justify="center")
        for layer in range(layers, 0, -1):
            marks = (MARKS[self.mask.kind(layer, head)] for head in numbers)
            table.add_row(str(layer), *(Text(*mark) for mark in marks))
        yield table
        yield Text(f"{self.mask} ({legend(self.mask)})")
        for role, places in self.mask.facts.get("roles", {}).items():
            if places:
                yield Text(f"{role}: {', '.join(f'{layer}.{head}' for layer, head in places)}")


def legend(mask: HeadMask) -> str:
    """What the letters of a map mean."""
    if {"syntactic", "positional"} & set(mask.parts):
        return "S syntactic, P positional, B both"
    return f"X {', '.join(mask.parts)}"


def table(mask: HeadMask) -> str:
    """The same map in HTML; a tooltip says what a head does."""
    layers, heads = mask.heads.shape
    numbers = range(1, heads + 1)
    names = "".join(f'<th style="font-weight:normal">{head}</th>' for head in numbers)
    rows = "".join(
        f'<tr><th style="font-weight:normal;padding-right:.5em">{layer}</th>'
        + "".join(cell(mask, layer, head) for head in numbers)
        + "</tr>"
        for layer in range(layers, 0, -1)
    )
    return (
        '<div class="headlight" style="overflow-x:auto"><table style="border-collapse:separate;'
        f'border-spacing:1px;font-size:.8em;text-align:center"><tr><th style="font-weight:normal">'
        f"layer</th>{names}</tr>{rows}</table>"
        f'<p style="margin:.2em 0;font-size:.85em">{escape(str(mask))} ({escape(legend(mask))})'
        "</p></div>"
    )


def cell(mask: HeadMask, layer: int, head: int) -> str:
    """One head: the letter and colour of its kind."""
    kind = mask.kind(layer, head)
    if kind is None:
        return '<td style="background:#8882;min-width:1.6em">·</td>'
    fill = HEAD_KINDS[kind]
    does = ", ".join(mask.roles.get((layer, head), ())) or kind
    return (
        f'<td title="{escape(f"{layer}.{head}: {does}")}" style="background:{as_hex(fill)};'
        f'color:{as_hex(ink_on(fill))};min-width:1.6em">{MARKS[kind][0]}</td>'
    )


NEAR = 6
"""How many words to either side a distribution shows."""
LEVELS = " ▁▂▃▄▅▆▇█"


def bars(shares: Sequence[float]) -> str:
    """A distribution as a row of bars; the largest share is a full bar, and every share above 0 is visible."""
    top = max(shares) or 1.0
    return "".join(LEVELS[ceil(share / top * (len(LEVELS) - 1))] for share in shares)
