"""Token-to-token matrices in a terminal."""

from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from headlight.renderers.colours import palette
from headlight.renderers.terminal import harmless, style_of
from headlight.tokenmixing import TokenMixing


@dataclass(frozen=True)
class MatrixMap:
    """One matrix: rows are tokens as they come out, columns what they are made of, in percent."""

    mixing: TokenMixing
    layer: int = -1
    accumulated: bool = True

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        found = self.mixing.at(self.layer, accumulated=self.accumulated)
        number = self.layer % len(self.mixing.layers)
        kind = "up to" if self.accumulated else "in"
        yield Text(f"{self.mixing.method}: tokens {kind} layer {number}, %", style="bold")
        table = Table(box=None, pad_edge=False, padding=(0, 0))
        table.add_column("", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
        for column in range(len(found)):
            table.add_column(str(column), justify="right", min_width=4)
        for row, token in enumerate(self.mixing.tokens):
            total, most = found[row].sum() or 1.0, found[row].max() or 1.0
            cells = [
                Text(
                    f"{100 * value / total:3.0f} ",
                    style_of(value / most, False, palette("blue_red")),
                )
                for value in found[row]
            ]
            table.add_row(str(row), Text(f" {harmless(token)} "), *cells)
        yield table
