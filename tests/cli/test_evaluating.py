"""The commands that measure, as people use them."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from headlight.cli import app
from headlight.errors import HeadlightError
from headlight.evaluation.request import DEFAULT_METHODS, DEFAULT_METRICS
from headlight.metrics import METRICS
from tests.cli.test_cli import folder, run

__all__ = ["folder"]


@pytest.fixture
def texts(tmp_path: Path) -> str:
    path = tmp_path / "texts.csv"
    rows = ["a charming film,positive", "a bad plot,negative", "the journey is often long,neutral"]
    path.write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    return f"{path}:text,label"


def test_a_run_is_made_reported_and_drawn(folder: str, texts: str, tmp_path: Path) -> None:
    out = str(tmp_path / "run")
    asked = ("evaluate", "--model", folder, "--data", texts, "--out", out, "--threads", "1")
    said = run(
        *asked,
        "--methods",
        "attcat,integrated_gradients:steps=2,baseline=zero",
        "--metrics",
        "aopc",
    )
    assert "3 examples, accuracy" in said
    assert "integrated_gradients:steps=2,baseline=zero" in said
    run(
        *asked,
        "--methods",
        "attcat,gae",
        "--metrics",
        "aopc,hiding",
        "--metric-option",
        "hiding.draws=2",
    )
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["settings"]["count"] == 3
    assert "hiding" in run("report", out)
    assert "attcat minus the other" in run("report", out, "--against", "attcat")
    for name, start in (
        ("a.html", "<!doctype"),
        ("a.md", "**Faith"),
        ("a.tex", "\\begin"),
        ("a.csv", "metric,"),
    ):
        run("report", out, "--output", str(tmp_path / name))
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    run("report", out, "--pictures", str(tmp_path / "pictures"))
    assert (tmp_path / "pictures" / "curve-aopc.svg").exists()


def test_a_dry_run_says_what_it_costs_and_does_nothing(
    folder: str, texts: str, tmp_path: Path
) -> None:
    said = run(
        "evaluate", "--model", folder, "--data", texts, "--methods", "attcat", "--metrics", "all",
        "--out", str(tmp_path / "run"), "--dry-run", "--threads", "1",
    )  # fmt: skip
    assert "core-hours" in said
    assert "of which" in said
    assert not (tmp_path / "run").exists()


def test_the_help_names_the_defaults() -> None:
    shown = CliRunner().invoke(app, ["evaluate", "--help"], env={"COLUMNS": "1000"}).stdout
    assert f"Default: {', '.join(DEFAULT_METHODS)}." in shown
    assert f"Default: {', '.join(DEFAULT_METRICS)}." in shown


def test_metrics_and_data_are_listed() -> None:
    said = run("metrics")
    assert all(name in said for name in METRICS)
    assert "samples/sentiment" in run("data")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--metric-option", "draws=2"], "Write METRIC.NAME=VALUE"),
        (["--metrics", "jaccard"], "needs another model"),
        (["--data", "none.csv:text"], "there is no file 'none.csv'"),
    ],
)
def test_mistakes_are_sentences(
    folder: str, texts: str, arguments: list[str], message: str
) -> None:
    result = CliRunner().invoke(app, ["evaluate", "--model", folder, "--data", texts, *arguments])
    assert isinstance(result.exception, HeadlightError)
    assert message in str(result.exception)


def test_a_report_needs_a_run_and_a_known_form(tmp_path: Path) -> None:
    for arguments, message in (
        (["report", str(tmp_path)], "there is no run in"),
        (["replicate", "attcat", "--data", "sst2"], "NAME=FILE"),
    ):
        result = CliRunner().invoke(app, arguments)
        assert message in str(result.exception)
