"""What a run found, as people see it: tables, figures, a page, and a paper's table beside ours."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import headlight
from headlight import Example, InvalidOption, Model, Results
from headlight.evaluation.evaluate import evaluate
from headlight.metrics.case import GROUPS, Case, Measure, Measures
from headlight.report import grids, page, terminal_table, written
from headlight.report.tables import comparison_rows, short
from headlight.shapes import Scores
from headlight.trace.trace import Trace


def test_tables_show_means_with_intervals_and_the_best_in_bold(small_run: Results) -> None:
    console = Console(file=io.StringIO(), width=140, force_terminal=True)
    titles = []
    for grid in grids(small_run):
        titles.append(grid.title)
        console.print(terminal_table(grid))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert titles[0].startswith("Faithfulness")
    best = small_run.best("aopc")
    assert best != "random"
    summary = small_run.summary("aopc", best)  # type: ignore[arg-type]
    cell = f"{summary.mean:.3f} [{summary.low:.3f}, {summary.high:.3f}]"
    assert re.search(rf"\x1b\[1m{re.escape(cell)}", text)
    assert "aopc@mask_lrp" not in text


def test_csv_has_every_summary(small_run: Results) -> None:
    rows = list(csv.DictReader(io.StringIO(written(small_run, "csv"))))
    kept = {(row["metric"], row["method"]): float(row["mean"]) for row in rows}
    for metric in ("aopc", "rationale.f1", "token_overlap"):
        for method in small_run.methods:
            assert kept[metric, method] == small_run.summary(metric, method).mean


def test_markdown_and_latex_mark_the_best(small_run: Results) -> None:
    best = small_run.best("aopc")
    assert best is not None
    line = next(
        row for row in written(small_run, "markdown").splitlines() if row.startswith(f"| {best} ")
    )
    assert line.startswith(f"| {best} | **{short(small_run.summary('aopc', best).mean)} [")
    text = written(small_run, "latex")
    assert f"\\textbf{{{short(small_run.summary('aopc', best).mean)}}} {{\\scriptsize [" in text
    assert text.count("\\begin{table}") == text.count("\\end{table}") == len(list(grids(small_run)))
    assert "integrated\\_gradients:steps=2 &" in text
    with pytest.raises(InvalidOption, match="format 'word' does not exist"):
        written(small_run, "word")


def test_a_notebook_shows_the_tables(small_run: Results) -> None:
    shown = small_run._repr_html_()
    assert shown.count("<table>") == len(list(grids(small_run, widest=12)))
    assert "<strong>" in shown


def test_methods_are_compared_on_the_same_examples(small_run: Results) -> None:
    rows = comparison_rows(small_run, "attcat", ["aopc"])
    assert [row[1] for row in rows] == ["random", *small_run.methods[2:]]
    own, other = (small_run.values("aopc", name) for name in ("attcat", "random"))
    assert float(rows[0][2]) == pytest.approx(float(np.mean(own - other)), abs=1e-4)


@pytest.fixture
def their_metric() -> Iterator[None]:
    """A metric and a method of another package."""

    @headlight.METRICS.register("their_size", better="higher")
    def their_size(case: Case, *, power: int = 1) -> Measures:
        """How large the scores are."""
        return {"": Measure(float(np.abs(case.scores).sum()) ** power)}

    @headlight.METHODS.register("their_ones")
    def their_ones(trace: Trace) -> Scores:
        """One for every token."""
        return trace.inputs.present.to(trace.embeddings)

    yield
    for registry, name in ((headlight.METRICS, "their_size"), (headlight.METHODS, "their_ones")):
        del registry.entries[name], registry.spellings[name.replace("_", "")]


@pytest.mark.usefixtures("their_metric")
@pytest.mark.parametrize(
    ("group", "title"),
    [
        ("", "Other metrics"),
        ("stability", "Stability: other classes, models and weights"),
        ("Sizes", "Sizes"),
    ],
)
def test_metrics_and_methods_of_other_packages_are_shown(
    classifier: Model, group: str, title: str
) -> None:
    entries = headlight.METRICS.entries
    entries["their_size"] = replace(entries["their_size"], group=group)
    settings = {"their_size": {"power": 2}}
    found = evaluate(
        classifier, [Example("a dull film")], ["their_ones", "rollout"], ["their_size"],
        metric_settings=settings, threads=1,
    )  # fmt: skip
    (grid,) = grids(found)
    assert (grid.title, grid.metrics) == (title, ("their_size",))
    for form in ("markdown", "latex", "csv"):
        assert "their" in written(found, form).split("rollout")[0]
    assert "| their_ones | **25.000** |" in written(found, "markdown")
    assert "their_size" in page(found)
    with pytest.raises(InvalidOption, match="power='x' is not possible for 'their_size'"):
        evaluate(
            classifier, [Example("a")], ["rollout"], ["their_size"],
            metric_settings={"their_size": {"power": "x"}}, threads=1,
        )  # fmt: skip


def test_every_metric_of_ours_has_a_heading() -> None:
    own = [e for e in headlight.METRICS.entries.values() if "their" not in e.name]
    assert {entry.group for entry in own} == set(GROUPS)
