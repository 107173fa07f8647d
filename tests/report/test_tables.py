"""Tables as text that other programs read."""

import math

import pytest

from headlight.metrics.statistics import Summary
from headlight.renderers.latex import ESCAPES
from headlight.report.tables import Cell, Grid, latex, short

CELL = Cell(Summary(0.5, 0.1, 0.25, 0.75, 10), is_best=True)


def grid(method: str, title: str = "Faithfulness") -> Grid:
    return Grid(title, ("aopc",), ((method, (CELL,)),))


def test_a_table_of_latex_is_exactly_this() -> None:
    assert latex(grid("attcat")) == (
        "\\begin{table}\n\\centering\n\\begin{tabular}{lr}\n\\toprule\n"
        "method & aopc $\\uparrow$ \\\\\n\\midrule\n"
        "attcat & \\textbf{0.500} {\\scriptsize [0.250, 0.750]} \\\\\n"
        "\\bottomrule\n\\end{tabular}\n\\caption{Faithfulness}\n\\end{table}\n"
    )


@pytest.mark.parametrize("mark", ESCAPES)
def test_no_mark_of_a_name_is_a_command_of_latex(mark: str) -> None:
    text = latex(grid(f"mask_lrp:mask=a{mark}b", f"Sizes a{mark}b"))
    assert f"mask\\_lrp:mask=a{ESCAPES[mark]}b &" in text
    assert f"\\caption{{Sizes a{ESCAPES[mark]}b}}" in text


def test_what_was_not_measured_is_a_dash() -> None:
    nothing = Cell(Summary(math.nan, math.nan, math.nan, math.nan, 0), is_best=False)
    assert nothing.text() == "–"
    assert "attcat & -- \\\\" in latex(Grid("t", ("aopc",), (("attcat", (nothing,)),)))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.0, "0.000"),
        (0.00049, "4.90e-04"),
        (0.001, "0.001"),
        (99.9994, "99.999"),
        (-250, "-2.50e+02"),
    ],
)
def test_numbers_have_three_digits_that_matter(value: float, expected: str) -> None:
    assert short(value) == expected
