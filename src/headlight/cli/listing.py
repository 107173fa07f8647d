"""Commands that list what there is: `methods`, `metrics`, `models`, `data`."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

app = typer.Typer()


@app.command(epilog="Examples:\n\nheadlight methods\n\nheadlight methods attn_lrp")
def methods(
    name: Annotated[
        str | None, typer.Argument(help="A method, to show everything about it.")
    ] = None,
) -> None:
    """List the methods, or show the formula, paper and options of one."""
    from headlight.registry.declarations import declared

    known = declared("method")

    console = Console()
    if name is not None:
        entry = known[name]
        console.print(f"[bold]{entry.name}[/]  {entry.paper}", highlight=False)
        console.print((entry.function.__doc__ or "").strip(), markup=False, highlight=False)
        if entry.difference:
            console.print(
                f"\nvariant='released': {entry.difference}", markup=False, highlight=False
            )
        console.print(f"\noptions: {', '.join(['variant', *entry.options])}", highlight=False)
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("method", "signed", "released differs", "what it is"):
        table.add_column(heading, no_wrap=heading == "method")
    for entry in map(known.__getitem__, known):
        marks = ("yes" if entry.signed else "", "yes" if entry.released else "")
        table.add_row(entry.name, *marks, entry.summary)
    console.print(table)


@app.command()
def models() -> None:
    """List the embedded models, the supported families, and the models in the local hub cache."""
    from headlight.loading.bases import whereabouts
    from headlight.loading.catalogue import CATALOGUE
    from headlight.loading.hub import cached_models
    from headlight.loading.shipped import shipment, shipped_place
    from headlight.models.architectures import ARCHITECTURES

    table = Table(box=None, pad_edge=False)
    for heading in ("embedded", "decides", "labels", "measured"):
        table.add_column(heading)
    for entry in CATALOGUE.values():
        measured = f"{entry.measure} {entry.score}" if entry.rows else entry.also
        table.add_row(entry.name, entry.decides, ", ".join(entry.labels), measured)
    console = Console()
    console.print(table)
    for base in dict.fromkeys(entry.base for entry in CATALOGUE.values()):
        users = ", ".join(entry.name for entry in CATALOGUE.values() if entry.base is base)
        console.print(f"\n[bold]{base.name}[/], for {users}: {whereabouts(base)}", highlight=False)
    place = f"{shipment().release}, adapters, head masks and parser: {shipped_place()}"
    console.print(f"\n{place}", markup=False, highlight=False)
    console.print(f"\n[bold]families:[/] {', '.join(sorted(ARCHITECTURES))}", highlight=False)
    cached = ", ".join(cached_models()) or "none"
    console.print(f"[bold]in the local hub cache:[/] {cached}", highlight=False)
    console.print(
        "--model takes one of these names, a folder written by save_pretrained, an adapter file, or a hub name."
    )


@app.command()
def metrics() -> None:
    """List the metrics of `headlight evaluate`."""
    from headlight.registry.declarations import declared

    known = declared("metric")
    table = Table(box=None)
    for name in ("metric", "better", "options", "what it measures"):
        table.add_column(name, no_wrap=name == "metric")
    for entry in map(known.__getitem__, known):
        table.add_row(entry.name, entry.better, ", ".join(entry.options), entry.summary)
    Console().print(table)


@app.command()
def data() -> None:
    """List the data sets that `headlight evaluate` knows by name."""
    from headlight.data.datasets import DATASETS, OWN

    table = Table(box=None)
    for name in ("data", "from", "what it is"):
        table.add_column(name, no_wrap=name == "data")
    for name, known in OWN.items():
        table.add_row(name, "headlight", known.about)
    for name, known in DATASETS.entries.items():
        table.add_row(name, known.hub or "a file", known.about)
    Console().print(table)
