"""Layers by tokens: every cell has its colour, and rows that are made of layers have their own scale."""

from pathlib import Path

import numpy as np
import pytest

import headlight
from headlight import Attribution, InvalidInput, Model, plot
from headlight.plot.layers import layer_cells
from headlight.renderers.colours import PALETTES, shade
from tests.plot.test_heads import words
from tests.plot.test_text import pixels
from tests.test_attribution import made

SCORES = [[0.9, 0.4, 0.0, 0.0, -0.4, 0.0, 0.0, 0.0], [0.0, 0.4, 0.0, 0.0, 0.2, 0.0, 0.2, 0.0]]


def stack(method: str = "attcat", signed: bool = True) -> list[Attribution]:
    return [
        made(scores, method=method, signed=signed, options={"layer": number + 1})
        for number, scores in enumerate(SCORES)
    ]


def test_rows_are_layers_then_the_sum_then_the_rollout() -> None:
    rollout = made([0.5] * 8, method="rollout", signed=False)
    blocks = layer_cells(stack(), rollout)
    assert [block.rows for block in blocks] == [("layer 1", "layer 2"), ("sum",), ("rollout",)]
    assert blocks[1].values[0] == pytest.approx(np.sum(SCORES, 0))
    assert [block.largest for block in blocks] == pytest.approx([0.4, 0.8, 0.5])
    assert [block.is_signed for block in blocks] == [True, True, False]


def test_cells_have_the_colours_of_their_scores(tmp_path: Path) -> None:
    figure = plot.layers(stack())
    seen = pixels(figure, tmp_path)
    axes = figure.axes[0]
    height = seen.shape[0]
    for row, column, share in ((0, 1, 1.0), (0, 4, -1.0), (1, 4, 0.5), (1, 2, 0.0)):
        x, y = axes.transData.transform((column + 0.3, row + 0.3)) * 160 / figure.dpi
        expected = shade(share, True, PALETTES["blue_red"])
        assert seen[round(height - y), round(x)] == pytest.approx(expected, abs=3)
    x, y = (round(v) for v in axes.transData.transform((4, 0)) * 160 / figure.dpi)
    around = seen[height - y - 4 : height - y + 5, x - 4 : x + 5]
    assert around.max(-1).min() < 80, "a minus tells it in grey print"


def test_methods_that_are_no_sums_have_no_sum(tmp_path: Path) -> None:
    assert "sum" in words(plot.layers(stack()), tmp_path)
    found = words(plot.layers(stack("decoded_grad_cam", signed=False)), tmp_path)
    assert "sum" not in found
    assert {"layer 1", "layer 2", "film", "[CLS]", "matters"} <= set(found)


def test_long_texts_go_on_below(tmp_path: Path) -> None:
    tokens = tuple(f"t{number}" for number in range(100))
    long = [
        made(
            [0.1] * 100,
            tokens=tokens,
            is_special=(False,) * 100,
            texts=(),
            offsets=None,
            segments=None,
            word_ids=None,
            options={"layer": layer},
        )
        for layer in (1, 2)
    ]
    found = words(plot.layers(long), tmp_path)
    assert set(tokens) <= set(found)
    assert found.count("layer 1") == 3


def test_what_explain_layers_gives_is_drawn(classifier: Model, tmp_path: Path) -> None:
    found = headlight.explain_layers(classifier, "a $ film", "attcat")
    rollout = headlight.explain(classifier, "a $ film", "rollout")
    shown = words(plot.layers(found, rollout=rollout), tmp_path)
    assert {"layer 1", "layer 3", "sum", "rollout", "for", "against"} <= set(shown)


def test_other_attributions_are_refused() -> None:
    for wrong in ([], [made()]):
        with pytest.raises(InvalidInput, match="not the layers of one input"):
            plot.layers(wrong)
    with pytest.raises(InvalidInput, match="of the same tokens"):
        plot.layers(stack(), rollout=made().words())
