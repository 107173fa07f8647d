"""All tables of a run as text: those of metrics, then those of how methods stand."""

import pytest

from headlight import InvalidOption
from headlight.report.writing import FORMATS, written
from tests.evaluation.test_standings import COST, SCORE, run


def test_tables_of_metrics_come_first() -> None:
    text = written(run({"naopc": SCORE, "passes": COST}), "markdown")
    titles = [line for line in text.splitlines() if line.startswith("**")]
    assert [title.strip("*").split(":")[0] for title in titles] == [
        "Faithfulness",
        "Cost",
        "Score against cost",
    ]


def test_the_rows_of_csv_are_summaries() -> None:
    lines = written(run({"naopc": SCORE, "passes": COST}), "csv").splitlines()
    assert len(lines) == 1 + 2 * len(SCORE)


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(InvalidOption, match="Use one of terminal, markdown, latex, csv"):
        written(run({"naopc": SCORE}), "word")
    assert "terminal" in FORMATS
