"""Commands that measure: `evaluate`, `report`, `replicate`."""

import sys
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from headlight.cli.checking import (
    OF_ANSWERS,
    check_data,
    check_engine,
    check_folder,
    check_methods,
    check_metrics,
    check_models,
    check_output,
    check_run,
    check_sources,
)
from headlight.cli.options import (
    DEFAULT_MODEL,
    DeviceOption,
    DtypeOption,
    ModelOption,
    SettingsOption,
    StrictOption,
    VariantOption,
    parsed_options,
    quiet_libraries,
)
from headlight.errors import InvalidOption
from headlight.loading.placement import DEFAULT_DTYPE

if TYPE_CHECKING:
    from headlight.evaluation.request import Request
    from headlight.evaluation.results import Results
    from headlight.models.model import Model

app = typer.Typer()


class Engine(StrEnum):
    """What runs the jobs."""

    local = "local"
    ray = "ray"


class Explained(StrEnum):
    """The class whose scores are measured."""

    predicted = "predicted"
    gold = "gold"


class Paper(StrEnum):
    """Papers whose tables can be computed."""

    mask_lrp = "mask_lrp"
    attcat = "attcat"
    alti = "alti"
    decoded = "decoded"


class TableForm(StrEnum):
    """How tables are written."""

    terminal = "terminal"
    markdown = "markdown"
    latex = "latex"
    csv = "csv"
    html = "html"


@app.command(
    epilog="Examples:\n\n"
    "headlight evaluate --data samples/sentiment --methods attcat,gae,rollout --out runs/first\n\n"
    "headlight evaluate --model qa --data samples/qa --methods all --metrics precision_at_k --out runs/qa\n\n"
    "headlight evaluate --data reviews.csv:text,label --metrics aopc,aopc@mask_lrp --out runs/mine\n\n"
    "headlight evaluate --data sst2 --methods all --metrics all --engine ray --out runs/sst2\n\n"
    "headlight evaluate --attributions shap.jsonl --methods attn_lrp,random --metrics aopc\n\n"
    "headlight evaluate --data sst2 --model ./my-model --device cuda --dtype bfloat16 --out runs/half"
)
def evaluate(
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            "-d",
            help="A data set by name (`headlight data` lists them), a local copy of one as NAME=FILE, or a "
            "file with its columns as FILE:TEXT,LABEL. Default: the texts of --attributions.",
        ),
    ] = None,
    model: ModelOption = DEFAULT_MODEL,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "-a",
            help="Methods, separated by commas, 'all' or 'none'. Default: random, raw_attention, rollout, "
            "input_x_gradient, gae, transformer_attribution, attcat, alti, attn_lrp.",
        ),
    ] = "",
    metrics: Annotated[
        str,
        typer.Option(
            "--metrics",
            help="Metrics, separated by commas, or 'all'; NAME@PROTOCOL follows a paper's protocol. "
            "Default: aopc, log_odds, comprehensiveness, sufficiency.",
        ),
    ] = "",
    attributions: Annotated[
        list[Path] | None,
        typer.Option(
            help="A file of explanations made elsewhere (.json, .jsonl, .parquet, or what inseq saved), to be "
            "measured beside the methods. Repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="The folder to keep the run in; the same command resumes a stopped run.",
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="Use this many examples, drawn at random. Default: all."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed for drawing examples.")] = 0,
    explain: Annotated[
        Explained, typer.Option(help="Explain the predicted class, or the right one (gold).")
    ] = Explained.predicted,
    rival: Annotated[
        list[str] | None,
        typer.Option(help="Another model to compare scores with. Repeatable."),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(help="The names of the labels 0, 1 … in the data, separated by commas."),
    ] = None,
    strict: StrictOption = False,
    option: SettingsOption = None,
    metric_option: Annotated[
        list[str] | None,
        typer.Option(help="An option of a metric, as METRIC.NAME=VALUE. Repeatable."),
    ] = None,
    variant: VariantOption = "paper",
    sanity: Annotated[
        int,
        typer.Option(
            min=1,
            help="How many examples the slow metrics use: runtime, randomisation, conservation.",
        ),
    ] = 32,
    shard: Annotated[int, typer.Option(min=1, help="Examples per job.")] = 64,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Threads per job. Default: as torch has; 1 with --engine ray."),
    ] = None,
    engine: Annotated[
        Engine, typer.Option(help="Run in this process, or on a Ray cluster.")
    ] = Engine.local,
    address: Annotated[
        str | None,
        typer.Option(help="The address of the Ray cluster. Default: start one on this machine."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show the jobs and estimate their cost.")
    ] = False,
) -> None:
    """Measure how far methods can be trusted, on a model and a data set."""
    options, metric_settings = parsed_options(option), grouped(parsed_options(metric_option))
    check_methods(named(methods), options, variant, OF_ANSWERS)
    check_metrics(named(metrics), metric_settings)
    check_engine(engine.value, address)
    check_folder(out)
    check_models(model, *(rival or ()))
    check_sources(data, attributions or (), strict=strict)

    from headlight.evaluation.evaluate import run
    from headlight.evaluation.request import Request
    from headlight.loading.load import load

    quiet_libraries()
    request = Request(
        model,
        data,
        listed(methods, "methods", data, lambda: load(model, device=device, dtype=dtype)),
        listed(metrics, "metrics", data, lambda: load(model, device=device, dtype=dtype)),
        out=out,
        limit=limit,
        seed=seed,
        strict=strict,
        explain=explain.value,
        rivals=rival or (),
        labels=None if labels is None else [name.strip() for name in labels.split(",")],
        options=options,
        metric_settings=metric_settings,
        variant=variant,
        sanity=sanity,
        shard=shard,
        threads=threads,
        engine=engine.value,
        address=address,
        progress=True,
        device=device,
        dtype=dtype,
        attributions=attributions or (),
    )
    if dry_run:
        show_plan(request)
        return
    show_results(run(request))
    if out is not None:
        print(
            f"kept in {out}; for tables, figures and a page run: headlight report {out}",
            file=sys.stderr,
        )


def listed(given: str, kind: str, data: str | None, load: "Callable[[], Model]") -> list[str]:
    """The names in a list with commas; 'all' gives all that fit, 'none' none, an empty list the defaults."""
    from headlight.evaluation.evaluate import fitting_metrics
    from headlight.evaluation.request import DEFAULT_METHODS, DEFAULT_METRICS
    from headlight.explaining.plan import methods_for

    if not given:
        return list(DEFAULT_METHODS if kind == "methods" else DEFAULT_METRICS)
    if given == "all":
        return methods_for(load()) if kind == "methods" else fitting_metrics(load(), data)
    return named(given)


def named(given: str) -> list[str]:
    """The names in a list with commas; none for 'all' or 'none'. Commas between a method's options stay."""
    names: list[str] = []
    for part in given.split(",") if given not in ("all", "none") else ():
        is_option = "=" in part and ":" not in part
        if is_option and names:
            names[-1] += f",{part}"
        elif part.strip():
            names.append(part.strip())
    return names


def grouped(options: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Options of metrics, grouped by metric."""
    by_metric: dict[str, dict[str, Any]] = {}
    for name, value in options.items():
        metric, dot, option = name.partition(".")
        if not dot:
            raise InvalidOption(
                f"--metric-option {name} is not understood. Write METRIC.NAME=VALUE."
            )
        by_metric.setdefault(metric, {})[option] = value
    return by_metric


def show_plan(request: "Request") -> None:
    """Print the jobs of a run and their estimated cost."""
    from headlight.evaluation.evaluate import preview

    jobs, cost, settings = preview(request)
    table = Table(box=None, show_header=False)
    kinds = {kind: sum(job.kind == kind for job in jobs) for kind in ("explain", "measure", "time")}
    facts = {
        "examples": f"{settings.count:,}",
        "jobs": ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count),
        "attributions": f"{cost.attributions:,}",
        "perturbed inputs": f"{cost.probes:,}, of which {cost.unique:,} differ ({cost.tokens:,} tokens)",
        "explaining": f"{minutes(cost.explain_seconds)} on {settings.threads} threads",
        "measuring": f"{minutes(cost.measure_seconds)}",
        "in all": f"{minutes(cost.seconds)} here, {cost.seconds * settings.threads / 3600:.2f} core-hours",
    }
    for name, value in facts.items():
        table.add_row(name, value)
    Console().print(table)


def minutes(seconds: float) -> str:
    """A time in a readable unit."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def show_results(found: "Results") -> None:
    """Print the tables of a run."""
    from headlight.report import grids, sheets, terminal_sheet, terminal_table

    console = Console(markup=False, emoji=False)
    settings = found.settings
    title = f"{settings.model} on {settings.data}: {settings.count} examples"
    # NaN is not equal to itself: without labels there is no accuracy.
    if found.accuracy == found.accuracy:
        title += f", accuracy {found.accuracy:.4f}"
    console.print(title, highlight=False)
    for grid in grids(found, widest=max(1, (console.width - 24) // 23)):
        console.print()
        console.print(terminal_table(grid))
    for sheet in sheets(found):
        console.print()
        console.print(terminal_sheet(sheet))
    for number, reason in list(found.failures.items())[:5]:
        console.print(f"example {number} failed: {reason}", style="yellow", highlight=False)
    if len(found.failures) > 5:
        console.print(f"… {len(found.failures)} examples failed in total", style="yellow")
    if found.missing:
        console.print(f"{found.missing} jobs are not finished. Run the same command again.")


@app.command(
    epilog="Examples:\n\nheadlight report runs/first\n\n"
    "headlight report runs/first --format latex\n\n"
    "headlight report runs/first --output report.html\n\n"
    "headlight report runs/first --against attcat --pictures figures"
)
def report(
    run: Annotated[Path, typer.Argument(help="The folder of a run (evaluate --out).")],
    form: Annotated[
        TableForm | None,
        typer.Option(
            "--format",
            "-f",
            help="The output format. Default: by the suffix of --output, else terminal.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file instead of the terminal."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="Compare this method with every other, on the same examples."),
    ] = None,
    pictures: Annotated[
        Path | None, typer.Option(help="Write the figures as SVG files into this folder.")
    ] = None,
) -> None:
    """Show the results of a run as tables, figures, or one page with everything."""
    form = form_of(form, output)
    check_output(output)
    check_folder(pictures)
    check_run(run)

    from headlight.evaluation.results import open_run
    from headlight.files.storage import write_whole
    from headlight.report import page, written
    from headlight.report.figures import write_figures

    found = open_run(run)
    if against is not None:
        show_comparison(found, against)
    elif form is TableForm.terminal:
        show_results(found)
    else:
        text = page(found) if form is TableForm.html else written(found, form.value)
        if output is None:
            print(text)
        else:
            write_whole(output, text)
            print(f"wrote {output}", file=sys.stderr)
    if pictures is not None:
        for path in write_figures(found, pictures):
            print(f"wrote {path}", file=sys.stderr)


def form_of(form: TableForm | None, output: Path | None) -> TableForm:
    """The chosen format of a report, or that of the file's suffix."""
    suffixes = {
        ".html": TableForm.html,
        ".md": TableForm.markdown,
        ".tex": TableForm.latex,
        ".csv": TableForm.csv,
    }
    found = form or (suffixes.get(output.suffix) if output else TableForm.terminal)
    if found is None:
        raise InvalidOption(
            f"'{output}' does not say what to write. Use the suffix {', '.join(suffixes)}, or --format."
        )
    return found


def show_comparison(found: "Results", method: str) -> None:
    """Print a comparison of a method with all others."""
    from headlight.errors import unknown_name
    from headlight.report.tables import comparison_rows

    if method not in found.methods:
        raise unknown_name("method of this run", method, found.methods)
    table = Table(title=f"{method} minus the other, on the same examples", box=None)
    for name in ("metric", "other", "difference", "95 %", "p", "examples"):
        table.add_column(name, justify="left" if name in ("metric", "other") else "right")
    for row in comparison_rows(found, method, found.metrics):
        table.add_row(*row)
    Console(markup=False, emoji=False).print(table)


@app.command(
    epilog="Examples:\n\nheadlight replicate decoded --offline\n\n"
    "headlight replicate mask_lrp --data sst2=dev.jsonl --limit 200 --out runs/mask_lrp"
)
def replicate(
    paper: Annotated[Paper, typer.Argument(help="The paper to replicate.")],
    data: Annotated[
        list[str] | None,
        typer.Option("--data", "-d", help="A local copy of a data set, as NAME=FILE. Repeatable."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Use this many examples of each data set.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Keep the runs in this folder.")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Use only embedded models, samples and local copies.")
    ] = False,
    device: DeviceOption = None,
    dtype: DtypeOption = DEFAULT_DTYPE,
) -> None:
    """Compute the tables of a paper, and show its numbers beside ours."""
    copies = dict(each.split("=", 1) for each in data or [] if "=" in each)
    if len(copies) != len(data or []):
        raise InvalidOption("--data takes a local copy as NAME=FILE, such as sst2=dev.jsonl.")
    for each in data or []:
        check_data(each)
    check_folder(out)

    from headlight.loading.load import load
    from headlight.report.published import PUBLISHED
    from headlight.report.replication import markdown
    from headlight.report.replication import replicate as run

    quiet_libraries()
    for found in run(
        paper.value,
        data=copies,
        limit=limit,
        out=out,
        offline=offline,
        progress=True,
        loader=partial(load, device=device, dtype=dtype),
    ):
        print(markdown(found), flush=True)
    if PUBLISHED[paper].notes:
        print(PUBLISHED[paper].notes)
