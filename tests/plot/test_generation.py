"""Matrices of tokens as pictures: what exists is coloured, what does not is left blank."""

from pathlib import Path

import numpy as np
import pytest

from headlight import TokenMixing, plot
from headlight.renderers.colours import DARK, LIGHT, PALETTES, Rgb, shade
from tests.plot.test_heads import words
from tests.plot.test_text import pixels, share_of
from tests.renderers.test_html import generated


def colour_at(figure: object, seen: object, column: float, row: float) -> Rgb:
    """The colour of a place in the matrix."""
    x, y = figure.axes[0].transData.transform((column, row)) * 160 / figure.dpi  # type: ignore[attr-defined]
    return tuple(seen[round(seen.shape[0] - y), round(x)])  # type: ignore[index, attr-defined]


def test_cells_are_coloured_and_the_rest_is_blank(tmp_path: Path) -> None:
    figure = plot.generation(generated(3))
    seen = pixels(figure, tmp_path)
    colours = PALETTES["blue_red"]
    for row, column, expected in (
        (0, 0, shade(1.0, True, colours)),
        (0, 1, shade(1.0, True, colours)),
        (2, 3, shade(-0.5, True, colours)),
        (0, 3, LIGHT.paper),
    ):
        assert colour_at(figure, seen, column + 0.3, row + 0.3) == pytest.approx(expected, abs=3)
    shown = words(figure, tmp_path)
    assert {"the", "w0", "w1", "w2"} <= set(shown)


def test_matrices_follow_dark_paper(tmp_path: Path) -> None:
    mixing = TokenMixing(("a", "$b$", "中"), np.eye(3)[None], "alti", "toy")
    with plot.dark_paper():
        figure = plot.matrix(mixing)
    seen = pixels(figure, tmp_path)
    strong = shade(1.0, False, PALETTES["blue_red"], DARK)
    assert colour_at(figure, seen, 1.2, 1.2) == pytest.approx(strong, abs=3)
    assert colour_at(figure, seen, 0.2, 1.2) == pytest.approx(DARK.paper, abs=3)
    assert share_of(seen, DARK.paper) > 0.4
    assert share_of(seen, LIGHT.paper) < 0.01
