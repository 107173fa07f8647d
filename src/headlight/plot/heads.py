"""Figures of head masks: what heads do, distances of relations in a corpus, stability of masks."""

from collections.abc import Sequence
from itertools import cycle
from statistics import median
from typing import TYPE_CHECKING

from headlight.ablated import HeadEffects
from headlight.errors import InvalidInput
from headlight.headmask import HeadMask
from headlight.heads.statistics import FARTHEST, RELATIONS, HeadStatistics
from headlight.heads.studies import Agreement, SampleSize, Selection
from headlight.plot.canvas import colour, figure, ink, paper
from headlight.plot.cells import cell_map
from headlight.renderers.ablated import effect_cells
from headlight.renderers.colours import (
    BLUE,
    GREEN,
    HEAD_KINDS,
    PURPLE,
    VERMILION,
    blended,
    ink_on,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch


def head_map(mask: HeadMask) -> "Figure":
    """Which heads are syntactic, positional, both or neither, and what they do (Mask-LRP, Fig. 5)."""
    layers, heads = mask.heads.shape
    drawn, axes = figure(max(4.0, 1.6 + 0.62 * heads), 1.4 + 0.34 * layers)
    for layer in range(1, layers + 1):
        for head in range(1, heads + 1):
            draw_head(axes, mask, layer, head)
    axes.set(xlim=(0.4, heads + 0.6), ylim=(0.4, layers + 0.6), xlabel="head", ylabel="layer")
    axes.set_xticks(range(1, heads + 1))
    axes.set_yticks(range(1, layers + 1))
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    add_legend(drawn, mask)
    return drawn


def head_effects(found: HeadEffects) -> "Figure":
    """How much the probability falls when each head alone is switched off (Michel et al., 2019, Table 1)."""
    return cell_map(effect_cells(found))


def draw_head(axes: "Axes", mask: HeadMask, layer: int, head: int) -> None:
    """Draw one cell: the colour of the head's kind, and what the head does."""
    kind = mask.kind(layer, head)
    fill = colour(HEAD_KINDS[kind] if kind else paper().empty)
    axes.add_patch(rectangle((head - 0.47, layer - 0.45), 0.94, 0.9, fill))
    if kind:
        label = "\n".join(mask.roles.get((layer, head), ()))
        size = 7 if "\n" not in label else 5
        ink_of_label = colour(ink_on(HEAD_KINDS[kind]))
        axes.text(head, layer, label, ha="center", va="center", color=ink_of_label, size=size)


def add_legend(drawn: "Figure", mask: HeadMask) -> None:
    """Add a legend of the kinds of heads in the mask."""
    layers, heads = mask.heads.shape
    numbers = [(n + 1, h + 1) for n in range(layers) for h in range(heads)]
    seen = {mask.kind(*place) for place in numbers}
    names = [kind for kind in HEAD_KINDS if kind in seen]
    drawn.legend(
        [rectangle((0, 0), 1, 1, colour(HEAD_KINDS[kind])) for kind in names],
        names,
        loc="outside upper center",
        ncols=4,
        frameon=False,
        fontsize=8,
        labelcolor=ink(),
    )


def rectangle(corner: tuple[float, float], width: float, height: float, fill: object) -> "Patch":
    """A filled cell."""
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, facecolor=fill, edgecolor="none")


def relative_positions(
    counts: HeadStatistics, *, relations: Sequence[str] = RELATIONS, farthest: int = 8
) -> "Figure":
    """The distance of dependents from their syntactic heads, by relation: λ_k (Mask-LRP, Fig. 1)."""
    present = [relation for relation in relations if relation in counts.relations]
    if not present:
        raise InvalidInput(f"the corpus has none of the relations {', '.join(relations)}.")
    drawn, axes = figure(6.5, 3.2)
    steps = [step for step in range(-farthest, farthest + 1) if step]
    width = 0.8 / len(present)
    hues = cycle((BLUE, VERMILION, GREEN, PURPLE))
    for number, relation in enumerate(present):
        shares = counts.distance_shares(relation)
        places = [step - 0.4 + (number + 0.5) * width for step in steps]
        heights = [float(shares[FARTHEST + step]) for step in steps]
        axes.bar(places, heights, width, color=colour(next(hues)), label=relation)
    axes.set(xlabel="words from the head to its dependent", ylabel="share of the pairs")
    axes.set_xticks(steps, [f"{step:+d}" for step in steps], fontsize=8)
    axes.legend(frameon=False, fontsize=8, labelcolor=ink())
    return drawn


def thresholds(found: Sequence[Selection]) -> "Figure":
    """How many heads each pair of thresholds keeps; darker where the mask is closer to the paper's."""
    rows = sorted({each.syntactic for each in found})
    columns = sorted({each.positional for each in found})
    drawn, axes = figure(1.8 + 0.75 * len(columns), 1.2 + 0.42 * len(rows))
    for each in found:
        place = (columns.index(each.positional), rows.index(each.syntactic))
        square(axes, place, each.overlap, f"{each.mask.count} ({each.overlap:.2f})")
    finish(axes, [f"{c:g}" for c in columns], [f"{r:g}" for r in rows])
    axes.set(xlabel="positional threshold", ylabel="syntactic threshold")
    drawn.suptitle("heads kept (overlap with 0.1, 0.8)", fontsize=9, color=ink())
    return drawn


def agreement(found: Sequence[Agreement]) -> "Figure":
    """The overlap of every two masks."""
    names = list(dict.fromkeys(name for each in found for name in (each.first, each.second)))
    drawn, axes = figure(2.4 + 0.8 * len(names), 1.6 + 0.5 * len(names))
    for number in range(len(names)):
        square(axes, (number, number), 1.0, "1.00")
    for each in found:
        one, other = names.index(each.first), names.index(each.second)
        for place in ((one, other), (other, one)):
            square(axes, place, each.overlap, f"{each.overlap:.2f}")
    finish(axes, names, names)
    axes.invert_yaxis()
    for label in axes.get_xticklabels():
        label.set(rotation=30, ha="right", rotation_mode="anchor")
    drawn.suptitle("overlap of the heads (Jaccard)", fontsize=9, color=ink())
    return drawn


def square(axes: "Axes", place: tuple[int, int], strength: float, label: str) -> None:
    """A cell of a table of overlaps."""
    fill = blended(BLUE, 0.08 + 0.85 * strength, paper().paper)
    axes.add_patch(rectangle((place[0] - 0.47, place[1] - 0.45), 0.94, 0.9, colour(fill)))
    axes.text(*place, label, ha="center", va="center", color=colour(ink_on(fill)), fontsize=7)


def finish(axes: "Axes", columns: Sequence[str], rows: Sequence[str]) -> None:
    """Set the limits and names of a table."""
    axes.set(xlim=(-0.6, len(columns) - 0.4), ylim=(-0.6, len(rows) - 0.4))
    axes.set_xticks(range(len(columns)), columns, fontsize=8)
    axes.set_yticks(range(len(rows)), rows, fontsize=8)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)


def sample_sizes(found: Sequence[SampleSize]) -> "Figure":
    """How the mask becomes stable as texts are added: median and range over the draws."""
    drawn, axes = figure(5.5, 3.2)
    curves = {
        "with the mask of the whole corpus": [(each.texts, each.whole) for each in found],
        "with a mask of as many other texts": [
            (each.texts, each.apart) for each in found if each.apart
        ],
    }
    for (name, points), hue in zip(curves.items(), (BLUE, VERMILION), strict=True):
        if points:
            texts, values = zip(*points, strict=True)
            axes.plot(texts, [median(v) for v in values], "o-", color=colour(hue), label=name)
            low, high = [min(v) for v in values], [max(v) for v in values]
            axes.fill_between(texts, low, high, color=colour(hue), alpha=0.15, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_xticks([each.texts for each in found], [str(each.texts) for each in found])
    axes.set(xlabel="texts", ylabel="overlap of the heads (Jaccard)", ylim=(0, 1.03))
    axes.legend(frameon=False, fontsize=8, loc="lower right", labelcolor=ink())
    return drawn
