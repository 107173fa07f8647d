"""Matrices of tokens as figures."""

from pathlib import Path

import numpy as np
import pytest

from headlight import TokenMixing, plot
from headlight.renderers.colours import DARK, LIGHT, PALETTES, Rgb, shade
from tests.plot.test_text import pixels, share_of


def colour_at(figure: object, seen: object, column: float, row: float) -> Rgb:
    """The colour of a place in the matrix."""
    x, y = figure.axes[0].transData.transform((column, row)) * 160 / figure.dpi  # type: ignore[attr-defined]
    return tuple(seen[round(seen.shape[0] - y), round(x)])  # type: ignore[index, attr-defined]


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
