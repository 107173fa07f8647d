"""A self-contained page of a run: what was run, tables, figures, words, failures."""

from collections.abc import Iterator
from html import escape
from io import StringIO
from typing import TYPE_CHECKING

from headlight.display import DISPLAYS
from headlight.evaluation.results import Results
from headlight.renderers.html import PAGE
from headlight.report.figures import figures
from headlight.report.sheets import html_sheet, sheets
from headlight.report.tables import Grid, grids

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STYLE = """<style>
body { max-width: 76rem }
table { border-collapse: collapse; font-size: .85rem; margin: .5rem 0 1.5rem; display: block; overflow-x: auto }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #8884; white-space: nowrap }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: Canvas }
td small { opacity: .65 }
figure { margin: 1rem 0; background: white; color: black; border-radius: .4rem; padding: .4rem }
figure svg { max-width: 100%; height: auto }
dl { display: grid; grid-template-columns: max-content auto; gap: .1rem 1rem; font-size: .9rem }
dt { opacity: .7 } dd { margin: 0; overflow-wrap: anywhere }
</style>"""


def page(results: Results) -> str:
    """The whole page."""
    title = f"{results.settings.model} on {results.settings.data}"
    body = "\n".join([STYLE, *sections(results)])
    return PAGE.format(title=escape(f"headlight: {title}"), body=body)


def sections(results: Results) -> Iterator[str]:
    """The parts of the page, from top to bottom."""
    yield facts(results)
    yield tables(results)
    for _, caption, picture in figures(results):
        yield drawn(picture, caption)
    if results.failures:
        rows = "".join(
            f"<tr><td>{number}</td><td>{escape(reason)}</td></tr>"
            for number, reason in results.failures.items()
        )
        yield f"<h2>Examples that failed</h2><table><tr><th>example</th><th>why</th></tr>{rows}</table>"


def facts(results: Results) -> str:
    """What was run."""
    settings = results.settings
    known = {
        "model": f"{settings.model} (fingerprint {settings.fingerprint})",
        "data": f"{settings.data}, {settings.count} examples (hash {settings.data_hash})",
        "explained": f"the {settings.explain} class, variant '{settings.variant}'",
        "accuracy": f"{results.accuracy:.4f}",
        "failed": str(len(results.failures)),
        "unfinished jobs": str(results.missing),
        "versions": ", ".join(f"{name} {number}" for name, number in settings.versions.items()),
    }
    if results.unsealed:
        known["parts without checksum"] = f"{results.unsealed}, written by an earlier version"
    if settings.rivals:
        known["compared with"] = ", ".join(settings.rivals)
    if settings.options:
        known["options"] = ", ".join(f"{n}={v}" for n, v in settings.options.items())
    rows = "".join(f"<dt>{escape(n)}</dt><dd>{escape(v)}</dd>" for n, v in known.items())
    return f"<dl>{rows}</dl>"


def tables(results: Results) -> str:
    """The tables of a run: every metric for every method, and how methods stand."""
    shown = "".join(map(html_table, grids(results, widest=12)))
    note = "Mean and 95 % bootstrap interval. The best method is bold; random is never marked."
    further = "".join(map(html_sheet, sheets(results)))
    return f"{shown}<p><small>{note}</small></p>{further}"


def html_table(grid: Grid) -> str:
    """A grid as a table."""
    head = "".join(f"<th>{escape(grid.heading(metric))}</th>" for metric in grid.metrics)
    rows = []
    for method, cells in grid.rows:
        shown = []
        for cell in cells:
            mean, _, interval = cell.text().partition(" ")
            strong = f"<strong>{mean}</strong>" if cell.is_best else mean
            shown.append(f"<td>{strong} <small>{escape(interval)}</small></td>")
        rows.append(f"<tr><td>{escape(method)}</td>{''.join(shown)}</tr>")
    notes = f"<p><small>{escape('; '.join(grid.notes))}</small></p>" if grid.notes else ""
    table = f"<table><tr><th>method</th>{head}</tr>{''.join(rows)}</table>"
    return f"<h2>{escape(grid.title)}</h2>{table}{notes}"


def drawn(found: "Figure", caption: str) -> str:
    """A figure as SVG inside the page."""
    sink = StringIO()
    found.savefig(sink, format="svg", metadata={"Date": None})
    picture = sink.getvalue()
    return f"<figure>{picture[picture.index('<svg') :]}<figcaption>{escape(caption)}</figcaption></figure>"


DISPLAYS.register(Results, tables)
