"""Decisions with attention heads switched off: tables of texts, and maps of heads."""

from collections.abc import Iterable, Iterator
from html import escape

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from headlight.ablated import Ablated, AblatedText, HeadEffects, unit_of
from headlight.attribution import Explained
from headlight.headmask import HeadMask
from headlight.renderers.characters import visible
from headlight.renderers.colours import palette
from headlight.renderers.matrix import Cells
from headlight.renderers.terminal import style_of

NAMED = 12
"""Up to this many heads are named one by one."""
SHOWN = 60
"""Characters of a text that are shown in a table."""
STRONGEST = 5


def headline(found: Ablated) -> str:
    """Which heads are off, and what became of the decisions."""
    return f"{found} · {found.model}\noff: {head_names(found.heads)}"


def head_names(mask: HeadMask) -> str:
    """The heads of a mask as layer.head, counted from 1; the first of them, if they are many."""
    places = [f"{layer + 1}.{head + 1}" for layer, head in mask.heads.nonzero().tolist()]
    more = f" and {len(places) - NAMED} more" if len(places) > NAMED else ""
    return f"{', '.join(places[:NAMED])}{more}" if places else "none"


def columns(found: Ablated) -> tuple[str, ...]:
    """The names of the columns."""
    return ("text", "decision", "label", unit_of(found[0].before), "change", "logit")


def lines(found: Ablated) -> Iterator[tuple[str, ...]]:
    """One line per text: what is decided, about which label, and how its numbers move."""
    for row in found:
        before, after = row.before, row.after
        decision = before.predicted
        if row.decided_otherwise:
            decision = f"{before.predicted} → {after.predicted}"
        yield (
            shortened(row),
            decision,
            before.label,
            f"{number(before)} → {number(after)}",
            signed(row.change),
            f"{before.logit:.3g} → {after.logit:.3g}".replace("-", "−"),
        )


def shortened(row: AblatedText) -> str:
    """A text or a pair, cut to the room there is."""
    whole = visible(" | ".join(row.texts))
    return whole if len(whole) <= SHOWN else f"{whole[: SHOWN - 1]}…"


def number(said: Explained) -> str:
    """The probability, or the value if there is none."""
    value = said.logit if said.probability is None else said.probability
    return f"{value:.3f}".replace("-", "−")


def signed(change: float) -> str:
    """A change with its sign."""
    return f"{change:+.3f}".replace("-", "−")


class AblatedTable:
    """The texts in a terminal, one line each."""

    def __init__(self, found: Ablated) -> None:
        self.found = found

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield Text(headline(self.found), style="bold")
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for place, name in enumerate(columns(self.found)):
            is_number = place > 2
            table.add_column(name, justify="right" if is_number else "left", no_wrap=is_number)
        for row, line in zip(self.found, lines(self.found), strict=True):
            style = "bold" if row.decided_otherwise else ""
            table.add_row(*(Text(value, style=style) for value in line))
        yield table
        for note in dict.fromkeys(note for row in self.found for note in row.notes):
            yield Text(f"note: {note}", style="italic")


def table(found: Ablated) -> str:
    """The same table in HTML."""

    def cells(values: Iterable[str], tag: str) -> str:
        style = "padding:.1em .6em .1em 0;text-align:left;font-weight:normal"
        return "".join(f'<{tag} style="{style}">{escape(each)}</{tag}>' for each in values)

    rows = "".join(f"<tr>{cells(line, 'td')}</tr>" for line in lines(found))
    names, head = cells(columns(found), "th"), escape(headline(found)).replace("\n", "<br>")
    return (
        f'<div class="headlight" style="overflow-x:auto"><p style="margin:.4em 0;font-size:.85em">{head}</p>\n'
        f'<table style="border-collapse:collapse;font-size:.85em"><tr>{names}</tr>{rows}</table></div>'
    )


# ------------------------------------------------------------------------------- maps of heads


def effect_cells(found: HeadEffects) -> Cells:
    """How much the probability (in points) or the value falls when a head is off; the last layer is on top."""
    is_probability = found.unit == "probability"
    falls = -found.mean[::-1] * (100 if is_probability else 1)
    layers, heads = falls.shape
    texts = f"mean of {len(found.texts)} texts" if len(found.texts) > 1 else "one text"
    what = "points of probability" if is_probability else "value"
    return Cells(
        f"{what} lost without a head · {texts} · {found.model}",
        tuple(f"layer {layer}" for layer in range(layers, 0, -1)),
        tuple(f"head {head}" for head in range(1, heads + 1)),
        falls,
        True,
        float(abs(falls).max()),
    )


def two_digits(value: float) -> str:
    """A number with two digits after the point; one that rounds to 0 has no sign."""
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


class EffectMap:
    """The map in a terminal: rows are layers, columns heads."""

    def __init__(self, found: HeadEffects) -> None:
        self.found = found

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = effect_cells(self.found)
        yield Text(cells.title, style="bold")
        table = Table(box=None, pad_edge=False, padding=0)
        table.add_column("layer", justify="right")
        for head in range(1, len(cells.columns) + 1):
            table.add_column(f"{head} ", justify="right", min_width=6)
        for row, name in enumerate(cells.rows):
            values = (
                Text(
                    f"{two_digits(value)} ",
                    style_of(value / (cells.largest or 1.0), True, palette("blue_red")),
                )
                for value in cells.values[row]
            )
            table.add_row(f"{name.removeprefix('layer ')} ", *values)
        yield table
        yield Text("the more is lost, the more a head speaks for the decision; a minus: against it")
        scale = 100 if self.found.unit == "probability" else 1
        strongest = (
            f"{layer}.{head} ({two_digits(-scale * change)})"
            for layer, head, change in self.found.top(STRONGEST)
        )
        yield Text(f"strongest heads: {', '.join(strongest)}")
        otherwise = int(self.found.decided_otherwise.any((1, 2)).sum())
        yield Text(
            f"decided otherwise without some single head: {otherwise} of {len(self.found.texts)}"
        )
