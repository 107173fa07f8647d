"""Further tables: score against cost, and the agreement of fillers, in every form."""

import io

import pytest
from rich.console import Console

from headlight import Results
from headlight.report import page, sheets, terminal_sheet, written
from headlight.report.figures import figures
from headlight.report.sheets import fronted_metrics, latex_sheet, markdown_sheet
from tests.evaluation.test_standings import COST, SCORE, run


@pytest.fixture
def stood() -> Results:
    """Two fillers and a cost."""
    return run({"aopc": SCORE, "aopc@mask": SCORE, "jaccard": SCORE, "passes": COST})


def test_methods_on_the_front_are_marked(stood: Results) -> None:
    front, fillers = sheets(stood)
    assert front.heads == ("method", "passes", "aopc", "aopc@mask")
    assert front.rows[:3] == (
        ("random", "0.5", "0.055", "0.055"),
        ("quick", "1.0", "0.205 ●", "0.205 ●"),
        ("poor", "1.5", "0.105", "0.105"),
    )
    assert fillers.rows == (("aopc", "aopc@mask", "1.000", "[1.000, 1.000]", "6", "6"),)


def test_only_metrics_of_what_methods_are_for_are_set_against_cost(stood: Results) -> None:
    assert fronted_metrics(stood) == ["aopc", "aopc@mask"]
    assert fronted_metrics(run({"aopc": SCORE})) == []
    assert list(sheets(run({"aopc": SCORE}))) == []


def test_every_form_has_them(stood: Results) -> None:
    assert "| quick | 1.0 | 0.205 ● | 0.205 ● |" in written(stood, "markdown")
    assert "quick & 1.0 & 0.205 $\\bullet$ & 0.205 $\\bullet$ \\\\" in written(stood, "latex")
    assert "Kendall's $\\tau$" in written(stood, "latex")
    assert "<td>0.205 ●</td>" in page(stood)
    assert "<h2>Score against cost</h2>" in page(stood)
    console = Console(file=io.StringIO(), width=120)
    for sheet in sheets(stood):
        console.print(terminal_sheet(sheet))
        assert markdown_sheet(sheet).startswith(f"**{sheet.title}**")
        assert latex_sheet(sheet).count("\\begin{") == 2
    said = console.file.getvalue()  # type: ignore[attr-defined]
    assert "no cheaper method is as good" in said
    assert "aopc@mask" in said


def test_the_front_is_among_the_figures(stood: Results) -> None:
    drawn = {name: caption for name, caption, _ in figures(stood)}
    assert drawn["front-aopc"] == "aopc against cost"
