"""Matrices of tokens in a terminal and in HTML."""

import re

import numpy as np
import pytest

from headlight import TokenMixing
from headlight.renderers.matrix import (
    Cells,
    MatrixMap,
    generation_cells,
    mixing_cells,
    table,
)
from tests.renderers.test_html import generated
from tests.renderers.test_terminal import printed

LAYERS = np.array([[[1.0, 0.0], [0.25, 0.75]], [[0.5, 0.5], [0.0, 1.0]]])
MIXING = TokenMixing(("<a>", "b"), LAYERS, "alti", "toy")


def cells(rows: int, columns: int, *, is_signed: bool = True) -> Cells:
    values = np.linspace(-1, 1, rows * columns).reshape(rows, columns)
    names = tuple(f"r{n}" for n in range(rows)), tuple(f"c{n}" for n in range(columns))
    return Cells("title", *names, values, is_signed, 1.0)


def test_cells_of_a_mixing_are_of_a_layer_or_of_all_up_to_it() -> None:
    whole = mixing_cells(MIXING)
    assert whole.title == "alti: tokens up to layer 2"
    np.testing.assert_allclose(whole.values, LAYERS[1] @ LAYERS[0])
    single = mixing_cells(MIXING, 1, accumulated=False)
    assert single.title == "alti: tokens in layer 1"
    np.testing.assert_allclose(single.values, LAYERS[0])
    assert (single.rows, single.largest, single.is_signed) == (("<a>", "b"), 1.0, False)


def test_cells_of_a_generation_leave_the_first_token_out_of_the_scale() -> None:
    found = generation_cells(generated(3))
    assert found.values.shape == (3, 4)
    assert found.largest == 0.5
    assert np.isnan(found.values).sum() == 3
    assert np.nanmax(found.values) == 9.0


def test_a_table_has_a_cell_for_every_score_and_none_where_there_is_none() -> None:
    shown = table(generation_cells(generated(2)))
    assert shown.count("<td></td>") == 2  # the corner, and what does not exist
    assert "&lt;b&gt;" in shown
    assert "<b>" not in shown
    assert 'title="w0 ← the: +9"' in shown
    assert "strongest colour: 0.5" in shown


@pytest.mark.parametrize(
    ("size", "has_numbers", "has_titles"), [(4, True, True), (30, False, True), (70, False, False)]
)
def test_large_tables_say_less_in_each_cell(size: int, has_numbers: bool, has_titles: bool) -> None:
    shown = table(cells(size, size))
    assert bool(re.search(r">−?\d\.\d\d</td>", shown)) is has_numbers
    assert ("title=" in shown) is has_titles
    assert "−" in shown
    assert "shown: the first" not in shown


def test_only_the_first_of_very_many_are_shown_and_said() -> None:
    shown = table(cells(100, 120, is_signed=False))
    assert "shown: the first 96 of 100 rows and 96 of 120 columns" in shown
    assert shown.count("<tr>") == 97


def test_a_terminal_shows_percents() -> None:
    lines = printed(MatrixMap(MIXING), no_color=True).splitlines()
    assert lines[0] == "alti: tokens up to layer 2, %"
    assert lines[2].split() == ["0", "<a>", "62", "38"]
    assert lines[3].split() == ["1", "b", "25", "75"]


def test_a_row_of_nothing_is_no_division_by_zero() -> None:
    empty = TokenMixing(("a", "b"), np.zeros((1, 2, 2)), "alti", "toy")
    assert "0" in printed(MatrixMap(empty), no_color=True)
    assert "strongest colour: 0" in table(mixing_cells(empty))
