"""Matrices as coloured cells: their scale, their names, and what is left blank."""

import numpy as np
import pytest

from headlight.plot.cells import HIGHEST, READABLE, cell_map
from headlight.renderers.matrix import Cells


def cells(rows: int, columns: int, *, is_signed: bool = True, blank: bool = False) -> Cells:
    values = np.linspace(-0.5, 1, rows * columns).reshape(rows, columns)
    values = values if is_signed else np.abs(values)
    if blank:
        values[0, -1] = np.nan
    names = tuple(f"r{n}" for n in range(rows)), tuple(f"$c{n}" for n in range(columns))
    return Cells("a $title", *names, values, is_signed, 1.0)


@pytest.mark.parametrize(("is_signed", "least"), [(True, -1.0), (False, 0.0)])
def test_the_scale_is_that_of_the_largest_score(is_signed: bool, least: float) -> None:
    drawn = cell_map(cells(2, 3, is_signed=is_signed))
    axes, scale = drawn.axes
    assert axes.images[0].get_clim() == pytest.approx((least, 1.0), abs=1e-5)
    positive, negative = ("for", "against") if is_signed else ("matters", "")
    assert (scale.get_title(), scale.get_xlabel()) == (positive, negative)


def test_negative_cells_have_a_minus_and_others_none() -> None:
    drawn = cell_map(cells(2, 2))
    (marks,) = drawn.axes[0].collections
    assert marks.get_offsets().tolist() == [[0.0, 0.0]]  # type: ignore[union-attr]
    assert not cell_map(cells(2, 2, is_signed=False)).axes[0].collections


def test_what_has_a_score_is_outlined_where_something_has_none() -> None:
    assert not cell_map(cells(2, 3)).axes[0].patches
    widths = [p.get_width() for p in cell_map(cells(2, 3, blank=True)).axes[0].patches]  # type: ignore[attr-defined]
    assert widths == [2, 3]


def test_names_are_no_formulas_and_shrink_where_they_are_many() -> None:
    few, many = cell_map(cells(2, 3)).axes[0], cell_map(cells(2, 2 * READABLE)).axes[0]
    assert [t.get_text() for t in few.get_xticklabels()] == [r"\$c0", r"\$c1", r"\$c2"]
    assert few.get_title() == r"a \$title"
    assert {t.get_fontsize() for t in few.get_xticklabels()} == {8.0}
    assert {t.get_fontsize() for t in many.get_xticklabels()} == {4.0}
    assert {t.get_fontsize() for t in many.get_yticklabels()} == {8.0}


def test_a_figure_grows_with_its_cells_up_to_a_page() -> None:
    heights = [cell_map(cells(n, 2)).get_figheight() for n in (2, 20, 400)]
    assert heights[0] < heights[1] < heights[2] == HIGHEST


def test_scores_that_are_all_zero_are_drawn() -> None:
    nothing = Cells("t", ("a",), ("b",), np.zeros((1, 1)), True, 0.0)
    assert cell_map(nothing).axes[0].images[0].get_clim() == pytest.approx((-1, 1), abs=1e-5)
