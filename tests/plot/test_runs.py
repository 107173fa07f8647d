"""Figures of a run: lines, boxes and bars stand where the numbers are."""

from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from headlight import InvalidInput, Results
from headlight.plot import bars, boxes, class_words, curves, dark_paper, front, option_curve
from headlight.plot.canvas import colour
from headlight.plot.runs import HUES
from headlight.renderers.colours import BLUE, DARK, VERMILION
from headlight.report.figures import figures
from tests.evaluation.test_standings import COST, SCORE, run
from tests.plot.test_heads import readable_on


def near(figure: Any, axes: Any, x: float, y: float, expected: object) -> bool:
    """Whether a pixel within three of a place in the data has a colour, once the figure is drawn."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3] / 255
    across, up = axes.transData.transform((x, y))
    row, column = round(len(pixels) - 1 - up), round(across)
    around = pixels[max(row - 3, 0) : row + 4, max(column - 3, 0) : column + 4]
    return bool((np.abs(around - np.array(expected)).max(-1) < 0.12).any())


def blended_share(alpha: float) -> list[float]:
    """Blue on white paper."""
    return [alpha * part + 1 - alpha for part in colour(BLUE)]


@pytest.mark.slow
def test_all_figures_of_a_run_follow_dark_paper(small_run: Results) -> None:
    with dark_paper():
        dark = [figure for _, _, figure in figures(small_run)]
    assert dark
    assert all(readable_on(DARK, figure) for figure in dark)


def test_an_option_is_drawn_against_its_metric(small_run: Results) -> None:
    line = option_curve(small_run, "aopc", "steps").axes[0].lines[0]
    assert list(line.get_xdata()) == [2.0, 4.0]  # type: ignore[arg-type]
    expected = [small_run.summary("aopc", f"integrated_gradients:steps={n}").mean for n in (2, 4)]
    assert list(line.get_ydata()) == expected  # type: ignore[arg-type]


def test_readings_and_variants_have_lines_of_their_own() -> None:
    names = [
        f"mask_lrp:{more}corruption={n}" for n in (0.0, 1.0) for more in ("", "variant=released,")
    ]
    means = {name: float(number) for number, name in enumerate(names)}
    results = SimpleNamespace(
        methods=names,
        summary=lambda _, name: SimpleNamespace(
            mean=means[name], low=means[name], high=means[name]
        ),
    )
    lines = option_curve(cast(Results, results), "aopc", "corruption").axes[0].lines
    drawn = {line.get_label(): list(cast(Any, line.get_ydata())) for line in lines}
    assert drawn == {"mask_lrp": [0.0, 2.0], "mask_lrp:variant=released": [1.0, 3.0]}


def test_lines_are_seen_where_their_means_are(small_run: Results) -> None:
    drawn = curves(small_run, "aopc", ["attcat"])
    for level, mean in zip(*small_run.curve("aopc", "attcat"), strict=True):
        assert near(drawn, drawn.axes[0], level, mean, colour(BLUE))
    drawn = option_curve(small_run, "aopc", "steps")
    mean = small_run.summary("aopc", "integrated_gradients:steps=2").mean
    assert near(drawn, drawn.axes[0], 2, mean, colour(BLUE))
    assert not near(drawn, drawn.axes[0], 3, mean + 9, colour(BLUE))


def test_boxes_have_their_medians_and_bars_their_means(small_run: Results) -> None:
    drawn = boxes(small_run, "aopc")
    names = [tick.get_text() for tick in drawn.axes[0].get_yticklabels()]
    for place, name in enumerate(names, 1):
        values = small_run.values("aopc", name)
        median = float(np.median(values[~np.isnan(values)]))
        assert near(drawn, drawn.axes[0], median, place + 0.1, colour(VERMILION))
    drawn = bars(small_run, "aopc")
    for place, tick in enumerate(drawn.axes[0].get_yticklabels()):
        mean = small_run.summary("aopc", tick.get_text()).mean
        assert near(drawn, drawn.axes[0], mean / 2, place + 0.25, blended_share(0.55))


def test_words_of_classes_have_bars_as_long_as_their_scores(small_run: Results) -> None:
    drawn = class_words(small_run, "attcat", 3)
    for axes, (label, words) in zip(drawn.axes, small_run.words("attcat", 3).items(), strict=True):
        assert axes.get_title() == label
        hue = colour(HUES[drawn.axes.index(axes)])
        for place, (word, score) in enumerate(words):
            assert axes.get_yticklabels()[place].get_text() == word
            if abs(score) > 0.1 * abs(words[0][1]):
                assert near(drawn, axes, score / 2, place, hue)


def test_what_was_not_measured_is_not_drawn(small_run: Results) -> None:
    for draw in (curves, boxes, bars):
        with pytest.raises(InvalidInput):
            draw(small_run, "log_odds")
    with pytest.raises(InvalidInput, match="no attributions by 'gae'"):
        class_words(small_run, "gae")
    with pytest.raises(InvalidInput, match="has a number for the option 'seed'"):
        option_curve(small_run, "aopc", "seed")


def test_curves_are_the_means_of_the_examples(small_run: Results) -> None:
    drawn = curves(small_run, "aopc")
    lines = {line.get_label(): line for line in drawn.axes[0].lines}
    levels, means = small_run.curve("aopc", "attcat")
    line = lines[f"attcat {small_run.summary('aopc', 'attcat').mean:.3f}"]
    np.testing.assert_array_equal(line.get_xdata(), levels)
    np.testing.assert_array_equal(line.get_ydata(), means)
    assert np.mean(means) == pytest.approx(small_run.summary("aopc", "attcat").mean)


def test_methods_stand_where_their_score_and_cost_are() -> None:
    drawn = front(run({"naopc": SCORE, "passes": COST}), "naopc")
    axes = drawn.axes[0]
    assert axes.get_xscale() == "log"
    assert axes.get_xlabel() == "cost in plain passes (passes)"
    assert axes.get_ylabel() == "naopc (higher is better)"
    assert {text.get_text() for text in axes.texts} == set(SCORE)
    bold = {text.get_text() for text in axes.texts if text.get_fontweight() == "bold"}
    assert bold == {"quick", "good", "best"}
    for method in ("quick", "best"):
        x, y = COST[method] + 0.005, SCORE[method] + 0.005
        assert near(drawn, axes, x, y, colour(VERMILION))
    assert near(drawn, axes, COST["slow"] + 0.005, SCORE["slow"] + 0.005, colour(BLUE))
    with pytest.raises(InvalidInput, match="does not know what its methods cost"):
        front(run({"naopc": SCORE}), "naopc")


def test_names_of_methods_with_the_same_cost_do_not_cover_each_other() -> None:
    score = {"a": 0.50, "b": 0.501, "c": 0.502, "d": 0.1, "e": 0.5}
    cost = {"a": 2.0, "b": 2.0, "c": 2.1, "d": 2.0, "e": 40.0}
    axes = front(run({"naopc": score, "passes": cost}), "naopc").axes[0]
    heights = {text.get_text(): text.xy[1] for text in axes.texts}  # type: ignore[attr-defined]
    assert heights["d"] == pytest.approx(0.1 + 0.005)
    assert heights["e"] == heights["a"] == pytest.approx(0.5 + 0.005)
    assert heights["b"] - heights["a"] == pytest.approx(heights["c"] - heights["b"])
    assert heights["b"] - heights["a"] > 0.01
