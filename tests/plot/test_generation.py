"""Matrices of tokens as pictures: what exists is coloured, what does not is left blank."""

from pathlib import Path

import pytest

from headlight import plot
from headlight.renderers.colours import LIGHT, PALETTES, shade
from tests.plot.test_heads import words
from tests.plot.test_mixing import colour_at
from tests.plot.test_text import pixels
from tests.renderers.test_html import generated


def test_cells_are_coloured_and_the_rest_is_blank(tmp_path: Path) -> None:
    figure = plot.generation(generated(3))
    seen = pixels(figure, tmp_path)
    colours = PALETTES["blue_red"]
    for row, column, expected in (
        (0, 0, shade(18.0, True, colours)),
        (0, 1, shade(1.0, True, colours)),
        (2, 3, shade(-0.5, True, colours)),
        (0, 3, LIGHT.paper),
    ):
        assert colour_at(figure, seen, column + 0.3, row + 0.3) == pytest.approx(expected, abs=3)
    shown = words(figure, tmp_path)
    assert {"the", "w0", "w1", "w2"} <= set(shown)
