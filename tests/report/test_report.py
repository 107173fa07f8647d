"""What a run found, as people see it: tables, figures, a page, and a paper's table beside ours."""

import csv
import io
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from rich.console import Console

import headlight
from headlight import Example, InvalidInput, InvalidOption, Model, Results, UnknownName
from headlight.evaluation.evaluate import evaluate
from headlight.metrics.case import GROUPS, Case, Measure, Measures
from headlight.plot import bars, boxes, class_words, curves, dark_paper, option_curve
from headlight.plot.canvas import colour
from headlight.plot.runs import HUES
from headlight.renderers.colours import BLUE, DARK, VERMILION
from headlight.report import grids, page, terminal_table, written
from headlight.report.figures import figures, write_figures
from headlight.report.replication import markdown, replicate, scaled
from headlight.report.tables import comparison_rows, short
from headlight.shapes import Scores
from headlight.trace.trace import Trace
from tests.conftest import WORDS
from tests.plot.test_heads import readable_on

METHODS = ["random", "attcat", "integrated_gradients:steps=2", "integrated_gradients:steps=4"]
METRICS = ["aopc", "hiding", "rationale", "kendall_confidence", "token_overlap", "aopc@mask_lrp"]


@pytest.fixture(scope="module")
def found(classifier: Model) -> Results:
    """A small run; its texts are too short for Mask-LRP's protocol."""
    examples = [
        Example(" ".join(WORDS[n : n + 6]), n % 3, marks=((0, 0, 3),))
        for n in range(len(WORDS) - 6)
    ]
    examples.append(Example(" ", 0))
    return evaluate(classifier, examples[-9:], METHODS, METRICS, threads=1)


def test_tables_show_means_with_intervals_and_the_best_in_bold(found: Results) -> None:
    console = Console(file=io.StringIO(), width=140, force_terminal=True)
    titles = []
    for grid in grids(found):
        titles.append(grid.title)
        console.print(terminal_table(grid))
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert titles[0].startswith("Faithfulness")
    best = found.best("aopc")
    assert best != "random"
    summary = found.summary("aopc", best)
    cell = f"{summary.mean:.3f} [{summary.low:.3f}, {summary.high:.3f}]"
    assert re.search(rf"\x1b\[1m{re.escape(cell)}", text)
    assert "aopc@mask_lrp" not in text


def test_csv_has_every_summary(found: Results) -> None:
    rows = list(csv.DictReader(io.StringIO(written(found, "csv"))))
    kept = {(row["metric"], row["method"]): float(row["mean"]) for row in rows}
    for metric in ("aopc", "rationale.f1", "token_overlap"):
        for method in found.methods:
            assert kept[metric, method] == found.summary(metric, method).mean


def test_markdown_and_latex_mark_the_best(found: Results) -> None:
    best = found.best("aopc")
    assert best is not None
    line = next(
        row for row in written(found, "markdown").splitlines() if row.startswith(f"| {best} ")
    )
    assert line.startswith(f"| {best} | **{short(found.summary('aopc', best).mean)} [")
    text = written(found, "latex")
    assert f"\\textbf{{{short(found.summary('aopc', best).mean)}}} {{\\scriptsize [" in text
    assert text.count("\\begin{table}") == text.count("\\end{table}") == len(list(grids(found)))
    assert "integrated\\_gradients:steps=2 &" in text
    with pytest.raises(InvalidOption, match="format 'word' does not exist"):
        written(found, "word")


def test_the_page_needs_nothing_else(found: Results) -> None:
    text = page(found)
    assert "<script" not in text
    assert not re.search(r'(src|href)="https?:', text)
    assert text.count("<svg") == text.count("</svg>") == len(list(figures(found)))
    assert "empty or only spaces" in text
    assert "<strong>" in text


def test_what_was_explained_cannot_write_into_the_page(classifier: Model) -> None:
    hostile = [Example("film <img src=x onerror=alert(1)>", 0), Example("a bad plot", 1)]
    metrics = ["aopc", "token_overlap"]
    assert "<img" not in page(evaluate(classifier, hostile, ["attcat"], metrics))


@pytest.mark.slow
def test_every_figure_is_drawn_and_written(found: Results, tmp_path: Path) -> None:
    names = [name for name, _, _ in figures(found)]
    assert {
        "curve-aopc",
        "curve-hiding",
        "boxes-kendall_confidence",
        "steps-aopc",
        "overlap",
    } <= set(names)
    paths = list(write_figures(found, tmp_path / "pictures"))
    assert len(paths) == len(names)
    for path in paths:
        assert ElementTree.parse(path).getroot().tag.endswith("svg")


@pytest.mark.slow
def test_all_figures_of_a_run_follow_dark_paper(found: Results) -> None:
    with dark_paper():
        dark = [figure for _, _, figure in figures(found)]
    assert dark
    assert all(readable_on(DARK, figure) for figure in dark)


def test_a_notebook_shows_the_tables(found: Results) -> None:
    shown = found._repr_html_()
    assert shown.count("<table>") == len(list(grids(found, widest=12)))
    assert "<strong>" in shown


def test_curves_are_the_means_of_the_examples(found: Results) -> None:
    drawn = curves(found, "aopc")
    lines = {line.get_label(): line for line in drawn.axes[0].lines}
    levels, means = found.curve("aopc", "attcat")
    line = lines[f"attcat {found.summary('aopc', 'attcat').mean:.3f}"]
    np.testing.assert_array_equal(line.get_xdata(), levels)
    np.testing.assert_array_equal(line.get_ydata(), means)
    assert np.mean(means) == pytest.approx(found.summary("aopc", "attcat").mean)


def test_an_option_is_drawn_against_its_metric(found: Results) -> None:
    line = option_curve(found, "aopc", "steps").axes[0].lines[0]
    assert list(line.get_xdata()) == [2.0, 4.0]
    expected = [found.summary("aopc", f"integrated_gradients:steps={n}").mean for n in (2, 4)]
    assert list(line.get_ydata()) == expected


def near(figure: Any, axes: Any, x: float, y: float, expected: object) -> bool:
    """Whether a pixel within three of a place in the data has a colour, once the figure is drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3] / 255
    across, up = axes.transData.transform((x, y))
    row, column = round(len(pixels) - 1 - up), round(across)
    around = pixels[max(row - 3, 0) : row + 4, max(column - 3, 0) : column + 4]
    return bool((np.abs(around - np.array(expected)).max(-1) < 0.12).any())


def test_lines_are_seen_where_their_means_are(found: Results) -> None:
    drawn = curves(found, "aopc", ["attcat"])
    for level, mean in zip(*found.curve("aopc", "attcat"), strict=True):
        assert near(drawn, drawn.axes[0], level, mean, colour(BLUE))
    drawn = option_curve(found, "aopc", "steps")
    mean = found.summary("aopc", "integrated_gradients:steps=2").mean
    assert near(drawn, drawn.axes[0], 2, mean, colour(BLUE))
    assert not near(drawn, drawn.axes[0], 3, mean + 9, colour(BLUE))


def test_boxes_have_their_medians_and_bars_their_means(found: Results) -> None:
    drawn = boxes(found, "aopc")
    names = [tick.get_text() for tick in drawn.axes[0].get_yticklabels()]
    for place, name in enumerate(names, 1):
        values = found.values("aopc", name)
        median = float(np.median(values[~np.isnan(values)]))
        assert near(drawn, drawn.axes[0], median, place + 0.1, colour(VERMILION))
    drawn = bars(found, "aopc")
    for place, tick in enumerate(drawn.axes[0].get_yticklabels()):
        mean = found.summary("aopc", tick.get_text()).mean
        assert near(drawn, drawn.axes[0], mean / 2, place + 0.25, blended_share(0.55))


def blended_share(alpha: float) -> list[float]:
    """Blue on white paper."""
    return [alpha * part + 1 - alpha for part in colour(BLUE)]


def test_words_of_classes_have_bars_as_long_as_their_scores(found: Results) -> None:
    drawn = class_words(found, "attcat", 3)
    for axes, (label, words) in zip(drawn.axes, found.words("attcat", 3).items(), strict=True):
        assert axes.get_title() == label
        hue = colour(HUES[drawn.axes.index(axes)])
        for place, (word, score) in enumerate(words):
            assert axes.get_yticklabels()[place].get_text() == word
            if abs(score) > 0.1 * abs(words[0][1]):
                assert near(drawn, axes, score / 2, place, hue)


def test_what_was_not_measured_is_not_drawn(found: Results) -> None:
    for draw in (curves, boxes, bars):
        with pytest.raises(InvalidInput):
            draw(found, "log_odds")
    with pytest.raises(InvalidInput, match="no attributions by 'gae'"):
        class_words(found, "gae")
    with pytest.raises(InvalidInput, match="has a number for the option 'seed'"):
        option_curve(found, "aopc", "seed")


def test_methods_are_compared_on_the_same_examples(found: Results) -> None:
    rows = comparison_rows(found, "attcat", ["aopc"])
    assert [row[1] for row in rows] == ["random", *METHODS[2:]]
    own, other = (found.values("aopc", name) for name in ("attcat", "random"))
    assert float(rows[0][2]) == pytest.approx(float(np.mean(own - other)), abs=1e-4)


def test_failures_and_accuracy_are_told(found: Results) -> None:
    assert list(found.failures) == [8]
    assert 0 <= found.accuracy <= 1
    assert math.isnan(found.summary("aopc@mask_lrp", "attcat").mean)
    assert found.summary("aopc@mask_lrp", "attcat").passed_over == 8


@pytest.mark.slow
def test_a_papers_table_is_computed_offline_and_says_so() -> None:
    first = next(replicate("decoded", offline=True, limit=2))
    assert not first.is_paper_model
    assert "need not agree: 'sentiment' on 'samples/sentiment', 2 examples" in first.said
    lines = markdown(first).splitlines()
    assert (
        lines[2]
        == "| method | Revealing (paper) | Revealing (ours) | Hiding (paper) | Hiding (ours) |"
    )
    assert any(line.startswith("| Decoded Grad-CAM l7 | 0.867 | ") for line in lines)
    assert all(not math.isnan(ours) for cells in first.cells.values() for _, ours in cells)


def test_layers_are_scaled_to_the_depth_of_a_network(classifier: Model) -> None:
    assert scaled("decoded_grad_cam:layer=8", classifier) == "decoded_grad_cam:layer=2"
    assert scaled("attcat", classifier) == "attcat"


def test_an_unknown_paper_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"no paper named 'altii'. Did you mean 'alti'"):
        list(replicate("altii"))


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
