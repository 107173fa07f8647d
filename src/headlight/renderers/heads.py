"""Head masks for people: a map of layers and heads."""

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from headlight.headmask import HeadMask

MARKS = {
    (True, False): ("S", "bold cyan"),
    (False, True): ("P", "bold magenta"),
    (True, True): ("B", "bold yellow"),
    (False, False): ("·", "dim"),
}


class HeadMap:
    """The map of the paper's Figure 5: S syntactic, P positional, B both; X heads of another mask."""

    def __init__(self, mask: HeadMask) -> None:
        self.mask = mask

    def cell(self, layer: int, head: int) -> Text:
        """The mark of one head."""
        named = {"syntactic", "positional"} & set(self.mask.parts)
        if not named:
            return Text("X", "bold green") if self.mask.heads[layer, head] else Text("·", "dim")
        is_in = [
            name in named and bool(self.mask.parts[name][layer, head])
            for name in ("syntactic", "positional")
        ]
        return Text(*MARKS[is_in[0], is_in[1]])

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        layers, heads = self.mask.heads.shape
        table = Table(box=None, pad_edge=False, padding=(0, 1))
        table.add_column("layer", justify="right")
        for head in range(heads):
            table.add_column(str(head), justify="center")
        for layer in reversed(range(layers)):
            table.add_row(str(layer), *(self.cell(layer, head) for head in range(heads)))
        yield table
        yield Text(f"{self.mask} (S syntactic, P positional, B both)")
