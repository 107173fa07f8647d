"""A run that is read part by part gives what one that is in memory gives, and what its rows say."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headlight import Example, Results, open_run
from headlight.evaluation import results as module
from headlight.evaluation.folder import open_folder, prepare_folder
from headlight.evaluation.parts import to_part
from headlight.evaluation.plan import Job
from headlight.evaluation.records import MeasureRecord, table
from headlight.metrics.statistics import mean_of_chunks
from tests.evaluation.made_up import METHODS, METRICS, made_up_run, records, settings_for


def rows(job: Job) -> list[MeasureRecord]:
    """Measures with holes, weights, notes and curves of several lengths."""
    found = []
    for n in range(job.first, job.last):
        for m, method in enumerate(job.methods):
            if (n, m) == (3, 1):
                continue
            for k, metric in enumerate(job.metrics):
                value = None if n % 5 == k else math.sin(n + 10 * m + 100 * k)
                levels = [0.5, 1.0] if n % 3 else [0.25, 1.0]
                curve = [value or 0.0, n] if k == 0 else [] if n % 2 else [1.0, 2.0, value or 0.0]
                note = "cut" if n % 4 == 0 else None
                weight = 1.0 + (n % 2) * k
                levels = levels if k == 0 else []
                found.append(MeasureRecord(n, method, metric, value, weight, levels, curve, note))
    return found


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = made_up_run(tmp_path_factory.mktemp("run"), count=23, shard=4)
    for job in folder.jobs:
        if job.kind == "measure":
            folder.write(job, to_part(table("measure", rows(job))))
    return folder.path


@pytest.fixture
def large(path: Path, monkeypatch: pytest.MonkeyPatch) -> Results:
    """The run as one that has no room in memory for more than one metric."""
    monkeypatch.setattr(module, "SMALL", 0)
    monkeypatch.setattr(module, "GATHERED", 1)
    return open_run(path)


def test_what_is_read_part_by_part_is_what_is_in_memory(path: Path, large: Results) -> None:
    small = replace(
        large,
        source=module.InMemory(large.measures, large.attributions),
    )
    assert small.methods == large.methods == list(METHODS)
    assert small.metrics == large.metrics == list(METRICS)
    assert large.source == open_folder(path)
    for metric in METRICS:
        for method in METHODS:
            assert small.summary(metric, method) == large.summary(metric, method)
            for one, other in zip(
                small.curve(metric, method), large.curve(metric, method), strict=True
            ):
                np.testing.assert_allclose(one, other, rtol=1e-14)
        assert small.compare(metric, *METHODS) == large.compare(metric, *METHODS)
        assert list(large.blocks) == [metric]


def test_columns_are_what_the_rows_say(large: Results) -> None:
    every = large.measures.to_pylist()
    for metric in METRICS:
        for method in METHODS:
            own = sorted(
                (r for r in every if (r["metric"], r["method"]) == (metric, method)),
                key=lambda r: r["example"],
            )
            found = large.column(metric, method)
            assert found is not None
            assert found.example.tolist() == [r["example"] for r in own]
            values = [math.nan if r["value"] is None else r["value"] for r in own]
            np.testing.assert_array_equal(found.value, values)
            assert found.weight.tolist() == [r["weight"] for r in own]
            assert found.noted == sum(r["note"] is not None and r["value"] is not None for r in own)
    assert len(large.values("aopc", "random")) == len(large.values("aopc", "attcat")) - 1


def test_the_curve_is_the_mean_of_those_with_the_usual_levels(large: Results) -> None:
    every = large.measures.to_pylist()
    usual = [
        r["curve"]
        for r in every
        if (r["metric"], r["method"], r["levels"]) == ("aopc", "attcat", [0.5, 1.0])
        and r["value"] is not None
    ]
    levels, means = large.curve("aopc", "attcat")
    assert levels.tolist() == [0.5, 1.0]
    np.testing.assert_allclose(means, np.mean(usual, axis=0), rtol=1e-14)
    levels, _ = large.curve("log_odds", "attcat")
    assert levels.tolist() == [0, 1, 2]


def test_what_was_not_measured_is_empty(large: Results) -> None:
    assert large.column("aopc", "gae") is None
    assert large.summary("hiding", "random").count == 0
    assert large.compare("aopc", "random", "gae").count == 0
    assert [len(axis) for axis in large.curve("aopc", "gae")] == [0, 0]


def test_a_round_that_came_later_is_read_with_the_first(tmp_path: Path) -> None:
    first = made_up_run(tmp_path / "run", count=5, shard=2)
    before = {
        (metric, method): open_run(first.path).summary(metric, method)
        for metric in METRICS
        for method in METHODS
    }
    more = prepare_folder(
        first.path, first.settings, first.examples, [*METHODS, "gae"], {"aopc": {}, "hiding": {}}
    )
    assert open_run(more.path).missing == len(more.missing()) == 3 * 3
    for job in more.missing():
        more.write(job, to_part(table(job.kind, records(job))))
    found = open_run(more.path)
    assert found.missing == 0
    assert found.methods == [*METHODS, "gae"]
    assert found.metrics == [*METRICS, "hiding"]
    assert all(found.summary(*key) == summary for key, summary in before.items())
    assert found.values("aopc", "gae").tolist() == [n / 3 + 3 for n in range(5)]
    assert found.summary("hiding", "attcat").count == 5
    assert found.summary("log_odds", "gae").count == 0


def test_the_mean_of_a_released_protocol_is_that_of_chunks(tmp_path: Path) -> None:
    examples = [Example(f"text {n}", 0) for n in range(7)]
    names = {
        "aopc": {},
        "aopc@mask_lrp": {"protocol": "mask_lrp"},
        "aopc@attcat": {"protocol": "attcat"},
    }
    folder = prepare_folder(tmp_path, settings_for(examples, 7), examples, ["gae"], names)
    values = [0.0, 1.0, None, 5.0, None, 2.0, 9.0]
    for job in folder.jobs:
        found = [
            MeasureRecord(n, "gae", metric, value)
            for n, value in enumerate(values)
            for metric in job.metrics
        ]
        kept = found if job.kind == "measure" else records(job)
        folder.write(job, to_part(table(job.kind, kept)))
    results = open_run(tmp_path)
    plain = np.mean([value for value in values if value is not None])
    expected = mean_of_chunks([math.nan if value is None else value for value in values])
    assert (
        results.summary("aopc", "gae").mean == plain == results.summary("aopc@attcat", "gae").mean
    )
    assert results.summary("aopc@mask_lrp", "gae").mean == expected


def test_the_best_follows_the_direction_of_the_metric_and_is_never_random(tmp_path: Path) -> None:
    found = open_run(made_up_run(tmp_path).path)
    assert found.best("aopc") == found.best("log_odds") == "attcat"
    frame = found.to_dataframe()
    assert len(frame) == len(METHODS) * len(METRICS)
    assert frame["count"].tolist() == [8] * 4
