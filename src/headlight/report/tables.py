"""The tables of a run: methods by metrics, for a terminal, a paper or a spreadsheet."""

import csv
import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.table import Table
from rich.text import Text

from headlight.evaluation.results import Results
from headlight.metrics.case import GROUPS, heading_of, metric_of
from headlight.metrics.statistics import Summary
from headlight.renderers.latex import escaped

ARROWS = {"higher": "↑", "lower": "↓", "": ""}


@dataclass(frozen=True)
class Cell:
    """One summary in a table, and whether it is the best of its column."""

    summary: Summary
    is_best: bool

    def text(self) -> str:
        """The mean with its interval, for people."""
        if math.isnan(self.summary.mean):
            return "–"
        mean = short(self.summary.mean)
        if math.isnan(self.summary.low):
            return mean
        return f"{mean} [{short(self.summary.low)}, {short(self.summary.high)}]"


def short(value: float) -> str:
    """A number with three decimals, or in scientific notation if it is very small or large."""
    return (
        f"{value:.3f}"
        if abs(value) < 100 and (abs(value) >= 0.001 or value == 0)
        else f"{value:.2e}"
    )


@dataclass(frozen=True)
class Grid:
    """Some metrics of a run for all its methods."""

    title: str
    metrics: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...]], ...]

    @property
    def notes(self) -> list[str]:
        """How many examples were passed over or have a note, metric by metric."""
        found = []
        for metric, cells in zip(
            self.metrics, zip(*(cells for _, cells in self.rows), strict=True), strict=True
        ):
            for name, meaning in (("passed_over", "passed over"), ("noted", "noted")):
                most = max(getattr(cell.summary, name) for cell in cells)
                if most:
                    found.append(f"{metric}: up to {most} examples {meaning}")
        return found

    def heading(self, metric: str) -> str:
        """A metric's name, with an arrow in the direction that is better."""
        return f"{metric} {ARROWS[metric_of(metric).better]}".strip()


def grids(results: Results, widest: int = 6) -> Iterator[Grid]:
    """All metrics of a run, grouped by heading, at most `widest` side by side."""
    for title in dict.fromkeys((*GROUPS.values(), *map(heading_of, results.metrics))):
        named = [m for m in results.metrics if heading_of(m) == title]
        group = [m for m in named if any(results.summary(m, n).count for n in results.methods)]
        for start in range(0, len(group), widest):
            metrics = tuple(group[start : start + widest])
            best = {metric: results.best(metric) for metric in metrics}
            rows = [
                (
                    method,
                    tuple(Cell(results.summary(m, method), best[m] == method) for m in metrics),
                )
                for method in results.methods
            ]
            yield Grid(title if not start else f"{title} (continued)", metrics, tuple(rows))


# ------------------------------------------------------------------------------------- forms


def terminal_table(grid: Grid) -> Table:
    """A grid for a terminal; the best is bold."""
    found = Table(title=grid.title, title_justify="left", box=None, pad_edge=False)
    found.add_column("method", no_wrap=True)
    for metric in grid.metrics:
        found.add_column(grid.heading(metric), justify="right")
    for method, cells in grid.rows:
        found.add_row(Text(method), *(Text(c.text(), "bold" if c.is_best else "") for c in cells))
    found.caption = "; ".join(grid.notes) or None
    return found


def markdown(grid: Grid) -> str:
    """A grid in Markdown."""
    lines = [
        f"**{grid.title}**",
        "",
        f"| method | {' | '.join(map(grid.heading, grid.metrics))} |",
        f"|---|{'---:|' * len(grid.metrics)}",
    ]
    for method, cells in grid.rows:
        shown = [f"**{c.text()}**" if c.is_best else c.text() for c in cells]
        lines.append(f"| {method} | {' | '.join(shown)} |")
    lines += ["", *(f"- {note}" for note in grid.notes)] if grid.notes else []
    return "\n".join(lines) + "\n"


def with_arrows(text: str) -> str:
    """Escaped text with LaTeX arrows."""
    return escaped(text).replace("↑", "$\\uparrow$").replace("↓", "$\\downarrow$")


def latex(grid: Grid) -> str:
    """A grid as a LaTeX table, with booktabs."""
    lines = [
        "\\begin{table}",
        "\\centering",
        f"\\begin{{tabular}}{{l{'r' * len(grid.metrics)}}}",
        "\\toprule",
        f"method & {' & '.join(with_arrows(grid.heading(m)) for m in grid.metrics)} \\\\",
        "\\midrule",
    ]
    for method, cells in grid.rows:
        lines.append(f"{escaped(method)} & {' & '.join(map(latex_cell, cells))} \\\\")
    lines += [
        "\\bottomrule",
        "\\end{tabular}",
        f"\\caption{{{escaped(grid.title)}}}",
        "\\end{table}",
    ]
    return "\n".join(lines) + "\n"


def latex_cell(cell: Cell) -> str:
    """A mean, bold if it is the best, and its interval in small print."""
    mean, _, interval = cell.text().replace("–", "--").partition(" ")
    strong = f"\\textbf{{{mean}}}" if cell.is_best else mean
    return f"{strong} {{\\scriptsize {interval}}}" if interval else strong


def comma_separated(results: Results) -> str:
    """All summaries of a run as CSV, one row for each."""
    sink = io.StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    names = ("mean", "error", "low", "high", "count", "passed_over", "noted")
    writer.writerow(("metric", "better", "method", *names))
    for metric in results.metrics:
        for method in results.methods:
            found = results.summary(metric, method)
            if found.count:
                values = [getattr(found, name) for name in names]
                writer.writerow((metric, metric_of(metric).better, method, *values))
    return sink.getvalue()


def comparison_rows(results: Results, method: str, metrics: Sequence[str]) -> list[tuple[str, ...]]:
    """A method compared with every other on the same examples: difference, interval, p."""
    rows: list[tuple[str, ...]] = []
    for metric in metrics:
        for other in results.methods:
            found = results.compare(metric, method, other)
            if other != method and found.count > 1:
                rows.append(
                    (
                        metric,
                        other,
                        f"{found.difference:+.4f}",
                        f"[{found.low:+.4f}, {found.high:+.4f}]",
                        f"{found.p_value:.4f}",
                        str(found.count),
                    )
                )
    return rows
