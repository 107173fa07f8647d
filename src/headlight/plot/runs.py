"""Figures of an evaluation run: curves, boxes, and the words of classes."""

import math
from collections.abc import Sequence
from importlib import import_module
from itertools import cycle, product
from typing import TYPE_CHECKING, Any

from headlight.errors import InvalidInput
from headlight.evaluation.results import Results
from headlight.evaluation.standings import Standing, cost_of, standings
from headlight.metrics.case import axes_of, metric_of
from headlight.plot.canvas import colour, figure, ink, inked
from headlight.plot.fonts import families, verbatim
from headlight.registry.entries import parse_specification, written
from headlight.renderers.colours import BLUE, GREEN, PURPLE, VERMILION

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HUES = (BLUE, VERMILION, GREEN, PURPLE, (90, 90, 90), (230, 159, 0), (86, 180, 233))
DASHES = ("-", "--", ":", "-.")


def styles() -> Any:
    """Line styles that can be told apart even in grey."""
    return cycle({"color": colour(hue), "linestyle": dash} for dash, hue in product(DASHES, HUES))


def curves(results: Results, metric: str, methods: Sequence[str] | None = None) -> "Figure":
    """The mean curve of a metric for every method; the legend shows its mean value."""
    drawn, axes = figure(7.5, 4.2)
    drawn_curves = 0
    for method, style in zip(methods or results.methods, styles(), strict=False):
        levels, means = results.curve(metric, method)
        if len(levels):
            mean = results.summary(metric, method).mean
            axes.plot(levels, means, label=f"{method} {mean:.3f}", linewidth=1.5, **style)
            drawn_curves += 1
    if not drawn_curves:
        raise InvalidInput(f"'{metric}' has no curves in this run.")
    across, up = axes_of(metric)
    axes.set(xlabel=across, ylabel=up, title=metric)
    axes.legend(
        frameon=False, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5), labelcolor=ink()
    )
    return drawn


def boxes(results: Results, metric: str) -> "Figure":
    """The spread of a metric over the examples, one box for every method (ALTI, Fig. 7 and 8)."""
    known = {
        method: [v for v in results.values(metric, method).tolist() if not math.isnan(v)]
        for method in results.methods
    }
    known = {method: values for method, values in known.items() if values}
    if not known:
        raise InvalidInput(f"'{metric}' was not measured in this run.")
    order = sorted(known, key=lambda method: sorted(known[method])[len(known[method]) // 2])
    drawn, axes = figure(7.0, 1.2 + 0.26 * len(order))
    axes.boxplot(
        [known[method] for method in order],
        orientation="horizontal",
        tick_labels=order,
        showfliers=False,
        patch_artist=True,
        boxprops={"facecolor": (*colour(BLUE), 0.25), "edgecolor": ink()},
        medianprops={"color": colour(VERMILION)},
        whiskerprops={"color": ink()},
        capprops={"color": ink()},
    )
    axes.set(xlabel=metric)
    axes.tick_params(axis="y", labelsize=8)
    return drawn


def bars(results: Results, metric: str) -> "Figure":
    """The mean of a metric for every method, with its interval."""
    known = {m: results.summary(metric, m) for m in results.methods}
    known = {m: s for m, s in known.items() if not math.isnan(s.mean)}
    if not known:
        raise InvalidInput(f"'{metric}' was not measured in this run.")
    order = sorted(known, key=lambda m: known[m].mean)
    drawn, axes = figure(7.0, 1.2 + 0.26 * len(order))
    for row, method in enumerate(order):
        summary = known[method]
        axes.barh(row, summary.mean, color=colour(BLUE), alpha=0.55, height=0.7)
        if not math.isnan(summary.low):
            axes.plot([summary.low, summary.high], [row, row], color=ink(), linewidth=1.2)
    axes.set_yticks(range(len(order)), order, fontsize=8)
    axes.axvline(0, color=ink(), linewidth=0.6)
    axes.set(xlabel=metric)
    return drawn


def front(results: Results, metric: str) -> "Figure":
    """The mean of a metric against the passes that each method takes, with its interval.

    A line joins the methods for which no other is better for as little: the front of Pareto. The cost comes
    from the metric `passes`, or from `runtime` if that is all there is.
    """
    found = standings(results, metric)
    drawn, axes = figure(7.5, 4.6)
    for each, height in zip(found, label_heights(found), strict=True):
        hue = colour(VERMILION if each.is_on_front else BLUE)
        if not math.isnan(each.score.low):
            ends = [each.score.low, each.score.high]
            axes.plot([each.passes] * 2, ends, color=hue, linewidth=0.8, alpha=0.5)
        axes.plot(each.passes, each.score.mean, "o", color=hue, markersize=4)
        axes.annotate(
            each.method,
            (each.passes, height),
            xytext=(5, 3),
            annotation_clip=False,
            textcoords="offset points",
            fontsize=6,
            color=ink(),
            fontweight="bold" if each.is_on_front else "normal",
        )
    ahead = [each for each in found if each.is_on_front]
    axes.step(
        [each.passes for each in ahead],
        [each.score.mean for each in ahead],
        where="post",
        color=colour(VERMILION),
        linewidth=1.0,
    )
    axes.set_xscale("log")
    ticker = import_module("matplotlib.ticker")
    axes.xaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axes.xaxis.set_minor_formatter(ticker.NullFormatter())
    arrow = {"higher": "higher is better", "lower": "lower is better"}[metric_of(metric).better]
    axes.set(xlabel=f"cost in plain passes ({cost_of(results)})", ylabel=f"{metric} ({arrow})")
    return drawn


def label_heights(found: Sequence[Standing]) -> list[float]:
    """Where the names of methods stand, so that none covers that of a method with much the same cost."""
    values = [
        value for each in found for value in (each.score.low, each.score.mean, each.score.high)
    ]
    known = [value for value in values if not math.isnan(value)]
    least = (max(known) - min(known)) / 30
    heights: dict[int, float] = {}
    for number in sorted(range(len(found)), key=lambda n: found[n].score.mean):
        cost, height = found[number].passes, found[number].score.mean
        near = [h for n, h in heights.items() if 2 / 3 < found[n].passes / cost < 3 / 2]
        heights[number] = max([height, *(h + least for h in near if h + least > height)])
    return [heights[number] for number in range(len(found))]


def class_words(results: Results, method: str, count: int = 15) -> "Figure":
    """The words with the highest scores for each class, as ranked bars (Decoding, Fig. 9, 11)."""
    found = results.words(method, count)
    if not found:
        raise InvalidInput(f"the run has no attributions by '{method}'.")
    drawn, first = figure(2.6 * len(found) + 0.6, 0.9 + 0.22 * count)
    first.remove()
    for number, (label, words) in enumerate(found.items()):
        axes = inked(drawn.add_subplot(1, len(found), number + 1))
        axes.barh(
            range(len(words)), [score for _, score in words], color=colour(HUES[number % len(HUES)])
        )
        axes.set_yticks(
            range(len(words)), [verbatim(word) for word, _ in words], fontsize=8, family=families()
        )
        axes.invert_yaxis()
        axes.set_title(label, fontsize=9)
        axes.set_xticks([])
        axes.spines[["top", "right", "bottom"]].set_visible(False)
    return drawn


def option_curve(results: Results, metric: str, option: str) -> "Figure":
    """A metric against an option of a method, as in mask_lrp:corruption=0.4 (Mask-LRP, Fig. 4)."""
    found: dict[str, list[tuple[float, Any]]] = {}
    for specification in results.methods:
        name, options = parse_specification(specification)
        if isinstance(options.get(option), int | float):
            place = (float(options.pop(option)), results.summary(metric, specification))
            found.setdefault(written(name, options), []).append(place)
    if not found:
        raise InvalidInput(f"no method of this run has a number for the option '{option}'.")
    drawn, axes = figure(5.5, 3.4)
    for (name, places), style in zip(found.items(), styles(), strict=False):
        places.sort(key=lambda each: each[0])
        across = [place for place, _ in places]
        axes.plot(
            across, [s.mean for _, s in places], marker="o", markersize=4, label=name, **style
        )
        axes.fill_between(
            across,
            [s.low for _, s in places],
            [s.high for _, s in places],
            color=style["color"],
            alpha=0.15,
            linewidth=0,
        )
    axes.set(xlabel=option, ylabel=metric)
    axes.legend(frameon=False, fontsize=8, labelcolor=ink())
    return drawn
