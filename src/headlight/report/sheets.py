"""Further tables of a run: methods by score and cost, and the agreement of two ways of removing tokens."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from rich.table import Table
from rich.text import Text

from headlight.evaluation.results import Results
from headlight.evaluation.standings import agreements, cost_of, standings
from headlight.metrics.case import metric_of
from headlight.renderers.latex import escaped
from headlight.report.tables import short

FRONTED = ("faithfulness", "values", "truth")
"""Groups of metrics whose score is set against cost."""


@dataclass(frozen=True)
class Sheet:
    """A table of text: the first `named` columns are names, the others numbers."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    named: int = 1
    note: str = ""


def sheets(results: Results) -> Iterator[Sheet]:
    """The further tables that a run has numbers for."""
    fronted = fronted_metrics(results)
    if fronted:
        yield front_sheet(results, fronted)
    found = list(agreements(results))
    if found:
        yield Sheet(
            "Do two ways of removing tokens put the methods in the same order?",
            ("metric", "against", "Kendall's τ", "95 %", "methods", "examples"),
            tuple(
                (a.first, a.second, f"{a.tau:.3f}", f"[{a.low:.3f}, {a.high:.3f}]",
                 str(a.methods), str(a.examples))
                for a in found
            ),
            named=2,
            note="1: the same order; 0: orders that have nothing in common. Resampled over examples.",
        )  # fmt: skip


def fronted_metrics(results: Results) -> list[str]:
    """The metrics whose score can be set against cost."""
    if cost_of(results) is None:
        return []
    return [
        metric
        for metric in results.metrics
        if metric_of(metric).group in FRONTED
        and metric_of(metric).better
        and any(results.summary(metric, method).count for method in results.methods)
    ]


def front_sheet(results: Results, metrics: list[str]) -> Sheet:
    """Methods by their cost, with a mark where nothing as cheap is better."""
    by_method: dict[str, list[str]] = {}
    passes: dict[str, float] = {}
    for column, metric in enumerate(metrics):
        for each in standings(results, metric):
            cells = by_method.setdefault(each.method, ["–"] * len(metrics))
            cells[column] = f"{short(each.score.mean)}{' ●' if each.is_on_front else ''}"
            passes[each.method] = each.passes
    order = sorted(by_method, key=lambda method: passes[method])
    return Sheet(
        "Score against cost",
        ("method", "passes", *metrics),
        tuple((method, f"{passes[method]:.1f}", *by_method[method]) for method in order),
        note=f"●: no cheaper method is as good. Cost by '{cost_of(results)}'; 1 is a plain forward pass.",
    )


# ------------------------------------------------------------------------------------- forms


def terminal_sheet(sheet: Sheet) -> Table:
    """A sheet for a terminal."""
    found = Table(title=sheet.title, title_justify="left", box=None, pad_edge=False)
    for number, head in enumerate(sheet.heads):
        found.add_column(head, justify="left" if number < sheet.named else "right")
    for row in sheet.rows:
        found.add_row(*map(Text, row))
    found.caption = sheet.note or None
    return found


def markdown_sheet(sheet: Sheet) -> str:
    """A sheet in Markdown."""
    marks = "---|" * sheet.named + "---:|" * (len(sheet.heads) - sheet.named)
    lines = [f"**{sheet.title}**", "", f"| {' | '.join(sheet.heads)} |", f"|{marks}"]
    lines += [f"| {' | '.join(row)} |" for row in sheet.rows]
    lines += ["", sheet.note] if sheet.note else []
    return "\n".join(lines) + "\n"


def latex_sheet(sheet: Sheet) -> str:
    """A sheet as a LaTeX table, with booktabs."""

    def line(cells: tuple[str, ...]) -> str:
        written = " & ".join(map(escaped, cells))
        return (
            f"{written} \\\\".replace("●", "$\\bullet$").replace("τ", "$\\tau$").replace("–", "--")
        )

    columns = "l" * sheet.named + "r" * (len(sheet.heads) - sheet.named)
    lines = ["\\begin{table}", "\\centering", f"\\begin{{tabular}}{{{columns}}}", "\\toprule"]
    lines += [line(sheet.heads), "\\midrule", *map(line, sheet.rows), "\\bottomrule"]
    lines += ["\\end{tabular}", f"\\caption{{{escaped(sheet.title)}}}", "\\end{table}"]
    return "\n".join(lines) + "\n"


def html_sheet(sheet: Sheet) -> str:
    """A sheet as a table of a page."""
    head = "".join(f"<th>{escape(each)}</th>" for each in sheet.heads)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in sheet.rows
    )
    note = f"<p><small>{escape(sheet.note)}</small></p>" if sheet.note else ""
    return f"<h2>{escape(sheet.title)}</h2><table><tr>{head}</tr>{rows}</table>{note}"
