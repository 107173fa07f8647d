"""The figures of a run as files."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from headlight.evaluation.results import Results
from headlight.metrics.case import metric_of
from headlight.plot.canvas import save
from headlight.plot.runs import bars, boxes, class_words, curves, front, option_curve
from headlight.registry.entries import parse_specification
from headlight.report.sheets import fronted_metrics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COMPARED = {"runner_up", "rival"}
"""Roles of the metrics whose spread over examples is drawn: each compares two explanations of an example."""
WORDED = 4
"""How many methods have their words drawn: those that tell classes apart best."""


def figures(results: Results) -> "Iterator[tuple[str, str, Figure]]":
    """Name, caption and figure of everything that can be drawn from a run."""
    for metric in results.metrics:
        entry = metric_of(metric)
        if entry.axes and any(len(results.curve(metric, m)[0]) for m in results.methods):
            yield (
                f"curve-{metric}",
                f"{metric}: mean curve of every method",
                curves(results, metric),
            )
        if COMPARED & set(entry.roles):
            yield f"boxes-{metric}", f"{metric}: spread over examples", boxes(results, metric)
    for metric in fronted_metrics(results):
        yield f"front-{metric}", f"{metric} against cost", front(results, metric)
    for option in swept_options(results):
        for metric in results.metrics:
            if metric.split("@")[0] in ("aopc", "log_odds"):
                caption = f"{metric} against the option {option}"
                yield f"{option}-{metric}", caption, option_curve(results, metric, option)
    if "token_overlap" in results.metrics:
        yield "overlap", "token_overlap: words that classes share", bars(results, "token_overlap")
        known = [m for m in results.methods if m != "random"]
        known.sort(key=lambda m: results.summary("token_overlap", m).mean)
        for method in known[:WORDED]:
            caption = f"{method}: words with the highest scores for each class"
            yield f"words-{method}", caption, class_words(results, method)


def swept_options(results: Results) -> list[str]:
    """Options for which a run has methods with several numbers."""
    found: dict[str, set[float]] = {}
    for method in results.methods:
        for option, value in parse_specification(method)[1].items():
            if isinstance(value, int | float):
                found.setdefault(option, set()).add(value)
    return sorted(option for option, values in found.items() if len(values) > 1)


def write_figures(results: Results, folder: Path, kind: str = "svg") -> Iterator[Path]:
    """Write every figure into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, _, drawn in figures(results):
        path = folder / f"{name.replace('@', '-').replace(':', '-')}.{kind}"
        save(drawn, path)
        yield path
