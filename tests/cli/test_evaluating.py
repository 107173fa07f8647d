"""The commands that measure, as people use them."""

import json
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest
from typer.testing import CliRunner

from headlight import InvalidOption, Results, UnknownName
from headlight.cli import app
from headlight.cli.evaluating import TableForm, form_of, minutes, show_comparison, show_results
from headlight.errors import HeadlightError
from headlight.evaluation.request import DEFAULT_METHODS, DEFAULT_METRICS
from headlight.metrics import METRICS
from headlight.report.published import PUBLISHED
from tests.cli.commands import run
from tests.evaluation.made_up import made_up_run


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
        "attcat,rollout,rollout:variant=released,integrated_gradients:steps=2,baseline=zero",
        "--metrics",
        "aopc",
    )
    assert "3 examples, accuracy" in said
    assert "integrated_gradients:steps=2,baseline=zero" in said
    assert "rollout:variant=released" in said
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


def test_explanations_from_a_file_are_measured(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "theirs.jsonl"
    records = [
        {"text": "a charming film", "words": ["a", "charming", "film"], "scores": [0, 2, 1]},
        {"text": "a bad plot", "words": ["a", "bad", "plot"], "scores": [0, 1, 1]},
    ]
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    said = run(
        "evaluate", "--model", folder, "--attributions", str(path), "--methods", "none", "--metrics", "aopc",
        "--threads", "1",
    )  # fmt: skip
    assert "2 given texts" in said
    assert "theirs" in said
    assert "random" not in said


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


@pytest.mark.parametrize(
    ("seconds", "said"), [(5, "5 s"), (119, "119 s"), (600, "10 min"), (9000, "2.5 h")]
)
def test_times_are_for_people(seconds: float, said: str) -> None:
    assert minutes(seconds) == said


@pytest.mark.parametrize(
    ("form", "name", "expected"),
    [
        (None, None, TableForm.terminal),
        (None, "a.tex", TableForm.latex),
        (TableForm.csv, "a.html", TableForm.csv),
    ],
)
def test_a_report_is_written_as_asked_or_as_its_file_is_called(
    form: TableForm | None, name: str | None, expected: TableForm
) -> None:
    assert form_of(form, None if name is None else Path(name)) is expected
    with pytest.raises(
        InvalidOption, match=r"Use the suffix \.html, \.md, \.tex, \.csv, or --format"
    ):
        form_of(None, Path("a.docx"))


def test_failures_and_unfinished_jobs_are_told(
    small_run: Results, capsys: pytest.CaptureFixture[str]
) -> None:
    class Failing:
        """A run in which seven examples failed and two jobs are missing."""

        failures: ClassVar = {number: f"reason {number}" for number in range(7)}
        missing = 2

        def __getattr__(self, name: str) -> Any:
            return getattr(small_run, name)

    show_results(cast("Results", Failing()))
    said = capsys.readouterr().out
    assert "example 4 failed: reason 4" in said
    assert "example 5 failed" not in said
    assert "… 7 examples failed in total" in said
    assert "2 jobs are not finished" in said


def test_a_method_that_was_not_run_is_not_compared(small_run: Results) -> None:
    with pytest.raises(UnknownName, match=r"no method of this run named 'atcat'.*attcat"):
        show_comparison(small_run, "atcat")


def test_a_report_is_printed_in_any_form(tmp_path: Path) -> None:
    made_up_run(tmp_path / "run")
    assert run("report", str(tmp_path / "run"), "--format", "csv").startswith("metric,")


def test_replications_are_printed_with_the_notes_of_the_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "dev.jsonl"
    copy.write_text('{"text": "a good film", "label": 1}\n', encoding="utf-8")
    asked: dict[str, Any] = {}

    def replicate(name: str, **options: Any) -> list[str]:
        asked.update(options, name=name)
        return ["first", "second"]

    monkeypatch.setattr("headlight.report.replication.replicate", replicate)
    monkeypatch.setattr("headlight.report.replication.markdown", lambda found: f"table {found}")
    out = str(tmp_path / "runs")
    given = ["--offline", "--limit", "2", "-d", f"sst2={copy}", "-o", out, "--dtype", "float64"]
    said = run("replicate", "decoded", *given)
    assert said.startswith("table first\ntable second\n")
    assert PUBLISHED["decoded"].notes in said
    assert asked.pop("loader").keywords == {"device": None, "dtype": "float64"}
    assert asked == {
        "name": "decoded",
        "data": {"sst2": str(copy)},
        "limit": 2,
        "out": tmp_path / "runs",
        "offline": True,
        "progress": True,
    }
