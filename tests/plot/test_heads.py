"""Figures about heads: what they say, as text in the SVG, and that their pixels are coloured."""

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
from matplotlib.figure import Figure

import headlight
from headlight import HeadMask, InvalidInput
from headlight.heads import learn, mask_agreement, sample_sizes, threshold_sweep
from headlight.heads.statistics import HeadStatistics
from headlight.heads.studies import SampleSize
from headlight.heads.synthetic_corpus import made_up_corpus
from headlight.plot import canvas
from headlight.plot import heads as draw
from headlight.renderers.colours import DARK, HEAD_KINDS, LIGHT, Paper, contrast
from tests.test_ablated import effects

PARSES = list(made_up_corpus(16))


@pytest.fixture(scope="module")
def counts() -> HeadStatistics:
    return learn(headlight.load("sentiment"), PARSES)


def words(figure: object, folder: Path) -> list[str]:
    """What stands in a figure."""
    path = folder / "figure.svg"
    canvas.save(figure, path)  # type: ignore[arg-type]
    return re.findall(r"<text[^>]*>([^<]*)</text>", path.read_text(encoding="utf-8"))


def test_the_map_names_what_heads_do(mask: HeadMask, tmp_path: Path) -> None:
    found = words(draw.head_map(mask), tmp_path)
    assert found.count("nsubj") == 2
    assert found.count("+1") == 2
    assert {"syntactic", "positional", "both", "head", "layer"} <= set(found)
    assert "kept" not in found


def test_the_map_of_effects_names_layers_and_heads(tmp_path: Path) -> None:
    found = words(draw.head_effects(effects()), tmp_path)
    assert {"layer 2", "layer 1", "head 1", "head 3", "for", "against"} <= set(found)
    assert any("lost without a head" in word for word in found)


def test_cells_have_the_colour_of_their_kind(mask: HeadMask, tmp_path: Path) -> None:
    canvas.save(draw.head_map(mask), tmp_path / "map.png")
    pixels = torch.from_numpy(
        import_module("matplotlib.image").imread(tmp_path / "map.png")[..., :3]
    )
    for kind, count in (("syntactic", 1), ("positional", 1), ("both", 1)):
        shade = torch.tensor(canvas.colour(HEAD_KINDS[kind]))
        share = ((pixels - shade).abs().amax(-1) < 0.01).float().mean()
        assert share > 0.02 * count, kind


def test_distributions_thresholds_overlaps_and_sizes_are_drawn(
    counts: HeadStatistics, mask: HeadMask, tmp_path: Path
) -> None:
    relative = words(draw.relative_positions(counts, farthest=3), tmp_path)
    assert {"nsubj", "obj", "amod", "advmod", "-1", "+3"} <= set(relative)
    sweep = threshold_sweep(counts, syntactic=(0.0, 0.1), positional=(0.8,))
    assert f"{counts.mask().count} (1.00)" in words(draw.thresholds(sweep), tmp_path)
    pairs = mask_agreement({"one": mask, "two": mask.part("syntactic")})
    assert words(draw.agreement(pairs), tmp_path).count("0.67") == 2
    found = sample_sizes(headlight.load("sentiment"), PARSES, parts=4, draws=2)
    assert {"4", "8", "16", "texts"} <= set(words(draw.sample_sizes(found), tmp_path))
    assert "texts" in words(draw.sample_sizes([SampleSize(5, (1,), (1.0,), ())]), tmp_path)
    with pytest.raises(InvalidInput, match="none of the relations iobj"):
        draw.relative_positions(counts, relations=["iobj"])


def readable_on(paper: Paper, figure: Figure) -> bool:
    """Whether all that stands beside the cells of a figure can be read on its paper."""
    colors = import_module("matplotlib.colors")
    kind = import_module("matplotlib.text").Text
    on_cells = {text for axes in figure.axes for text in axes.texts}
    shown = [t for t in figure.findobj(kind) if t.get_text() and t not in on_cells]
    inks = [tuple(round(255 * c) for c in colors.to_rgb(text.get_color())) for text in shown]
    return all(contrast(ink, paper.paper) >= 4.5 for ink in inks)


def test_all_figures_about_heads_follow_dark_paper(
    counts: HeadStatistics, mask: HeadMask, tmp_path: Path
) -> None:
    pairs = mask_agreement({"one": mask, "two": mask.part("syntactic")})
    sizes = [SampleSize(5, (1,), (1.0,), ())]
    cases: list[tuple[Callable[[Any], Figure], object]] = [
        (draw.head_map, mask),
        (draw.relative_positions, counts),
        (draw.thresholds, threshold_sweep(counts, syntactic=(0.1,), positional=(0.8,))),
        (draw.agreement, pairs),
        (draw.sample_sizes, sizes),
    ]
    for make, given in cases:
        with canvas.dark_paper():
            dark = make(given)
        light = make(given)
        for figure, paper in ((dark, DARK), (light, LIGHT)):
            canvas.save(figure, tmp_path / "a.png")
            corner = import_module("matplotlib.image").imread(tmp_path / "a.png")[0, 0, :3]
            assert corner == pytest.approx(canvas.colour(paper.paper), abs=0.01)
            assert readable_on(paper, figure), make
