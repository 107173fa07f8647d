"""Figures of answers: the matrix of parts and units, and the answer as a text."""

from pathlib import Path

import pytest

from headlight import plot
from headlight.renderers.colours import PALETTES, shade
from tests.plot.test_heads import words
from tests.plot.test_mixing import colour_at
from tests.plot.test_text import pixels
from tests.renderers.answers.made import answered


def test_the_matrix_shows_parts_and_units(tmp_path: Path) -> None:
    figure = plot.answer(answered())
    seen = pixels(figure, tmp_path)
    colours = PALETTES["blue_red"]
    for row, column, share in ((0, 0, 1.0), (1, 1, 1 / 3)):
        found = colour_at(figure, seen, column + 0.3, row + 0.3)
        assert found == pytest.approx(shade(share, True, colours), abs=3)
    assert {"Nora does.", "Yes!", "a.txt", "b.md"} <= set(words(figure, tmp_path))


def test_the_text_shows_the_answer_and_its_sources(tmp_path: Path) -> None:
    for given in (answered(), [answered(), answered("words")]):
        assert {"does.", "[1]", "[1] a.txt"} <= set(words(plot.answer_text(given), tmp_path))
