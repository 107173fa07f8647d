"""A metric of another package is measured, summed up, drawn and listed exactly like ours."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import headlight
from headlight import Example, Model, Results, UnknownName
from headlight.evaluation.evaluate import fitting_metrics
from headlight.metrics.case import axes_of, requirements
from headlight.metrics.statistics import mean_of_chunks
from headlight.report import grids, page, written
from headlight.report.figures import figures

SOURCE = '''
import numpy as np
from headlight.metrics.case import METRICS, Measure, passed_over

@METRICS.register(
    "their_shift", group="Shifts", roles=("runner_up",), better="higher", paper="Theirs (2030)",
    axes=("tokens that are summed", "distance to the second class"), chunked=("theirs",),
)
def their_shift(case, *, protocol: str = "corrected", power: int = 1):
    """How far the scores of two classes are apart."""
    others = case.role("runner_up")
    if not others:
        return passed_over("no second class")
    (other,) = others.values()
    curve = np.cumsum(np.abs(case.scores - other) ** power)[:3]
    levels = tuple(float(n + 1) for n in range(len(curve)))
    return {"": Measure(float(curve.mean()), levels=levels, curve=tuple(curve.tolist()))}
'''
METRIC = "their_shift"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a package as pip installs it, with an entry point."""
    home = tmp_path_factory.mktemp("site")
    facts = home / "their_package-1.0.dist-info"
    facts.mkdir()
    (home / "their_package.py").write_text(SOURCE, encoding="utf-8")
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text("[headlight.metrics]\nshift = their_package\n")
    return home


@pytest.fixture(scope="module")
def installed(package: Path) -> Iterator[None]:
    """The package is found by Python, and what it registers is forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(package))
        patch.setattr(headlight.METRICS, "plugins_read", False)
        patch.setattr(headlight.METRICS, "entries", dict(headlight.METRICS.entries))
        patch.setattr(headlight.METRICS, "spellings", dict(headlight.METRICS.spellings))
        yield
        sys.modules.pop("their_package", None)


@pytest.fixture(scope="module")
def run(
    installed: None, classifier: Model, examples: list[Example], tmp_path_factory: pytest.TempPathFactory
) -> Path:  # fmt: skip
    """A run that measures by it, kept in a folder."""
    path = tmp_path_factory.mktemp("runs") / "theirs"
    headlight.evaluate(
        classifier, examples, ["attcat", "gae"], [METRIC, f"{METRIC}@theirs", "aopc"], out=path,
        metric_settings={METRIC: {"power": 2}}, shard=4, threads=1,
    )  # fmt: skip
    return path


@pytest.fixture
def found(run: Path) -> Results:
    return headlight.open_run(run)


def test_it_is_in_the_results_with_the_role_that_it_needs(
    found: Results, examples: list[Example]
) -> None:
    assert found.metrics == [METRIC, f"{METRIC}@theirs", "aopc"]
    roles = set(found.attributions.column("role").to_pylist())
    assert roles == {"own", "runner_up"}
    for method in ("attcat", "gae"):
        assert found.summary(METRIC, method).count == len(examples)
    assert found.best(METRIC) == max(
        found.methods, key=lambda method: found.summary(METRIC, method).mean
    )


def test_its_option_and_its_way_of_averaging_are_followed(found: Results) -> None:
    records = found.attributions.to_pylist()
    own, other = (
        np.array(next(r["scores"] for r in records if (r["example"], r["method"], r["role"]) == key))
        for key in ((0, "attcat", "own"), (0, "attcat", "runner_up"))
    )  # fmt: skip
    for name, power in ((METRIC, 2), (f"{METRIC}@theirs", 2)):
        expected = np.cumsum(np.abs(own - other) ** power)[:3].mean()
        assert found.values(name, "attcat")[0] == pytest.approx(expected)
    chunked = found.values(f"{METRIC}@theirs", "attcat")
    assert found.summary(f"{METRIC}@theirs", "attcat").mean == mean_of_chunks(chunked)
    assert found.summary(METRIC, "attcat").mean == pytest.approx(np.mean(chunked))


def test_it_is_in_every_form_of_the_tables_under_its_own_heading(found: Results) -> None:
    titles = {grid.title: grid.metrics for grid in grids(found)}
    assert titles["Shifts"] == (METRIC, f"{METRIC}@theirs")
    assert f"| method | {METRIC} ↑ |" in written(found, "markdown")
    assert "their\\_shift $\\uparrow$" in written(found, "latex")
    assert f"{METRIC},higher,attcat," in written(found, "csv")
    assert METRIC in found.to_dataframe()["metric"].tolist()


def test_its_figures_have_its_axes(found: Results) -> None:
    drawn = {name: figure for name, _, figure in figures(found)}
    axes = drawn[f"curve-{METRIC}"].axes[0]
    labels = ("tokens that are summed", "distance to the second class")
    assert (axes.get_xlabel(), axes.get_ylabel()) == labels == axes_of(f"{METRIC}@theirs")
    assert f"boxes-{METRIC}" in drawn
    levels, means = found.curve(METRIC, "attcat")
    np.testing.assert_array_equal(axes.lines[0].get_xdata(), levels)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), means)


def test_it_is_on_the_page(found: Results) -> None:
    text = page(found)
    assert "<h2>Shifts</h2>" in text
    assert f"<th>{METRIC} ↑</th>" in text
    assert f"<figcaption>{METRIC}: mean curve of every method</figcaption>" in text


def test_all_metrics_have_it_among_them(
    installed: None, folder_model: str, table_file: Path
) -> None:
    assert METRIC in fitting_metrics(folder_model, f"{table_file}:text,label")


def test_the_command_line_lists_it(package: Path) -> None:
    paths = os.pathsep.join([str(package), os.environ.get("PYTHONPATH", "")])
    said = subprocess.run(
        [sys.executable, "-m", "headlight", "metrics"],
        env={**os.environ, "PYTHONPATH": paths, "COLUMNS": "160"},
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    (line,) = (line for line in said.splitlines() if METRIC in line)
    assert "higher" in line
    assert "protocol, power" in line
    assert "How far the scores of two classes are apart." in line


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"roles": ("rivals",)}, "no role for the metric 'their_shift' named 'rivals'. Did you mean 'rival'"),
        ({"needs": frozenset({"runner_up"})}, "no need for the metric 'their_shift' named 'runner_up'"),
    ],
)  # fmt: skip
def test_a_need_that_nobody_can_meet_is_refused(
    change: dict[str, object], message: str, classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = replace(headlight.METRICS[METRIC], **change)  # type: ignore[arg-type]
    monkeypatch.setitem(headlight.METRICS.entries, METRIC, changed)
    with pytest.raises(UnknownName, match=message):
        requirements(changed)
    with pytest.raises(UnknownName, match=message):
        headlight.evaluate(classifier, [Example("a film")], ["gae"], [METRIC])
