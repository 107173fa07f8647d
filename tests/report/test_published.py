"""The papers' tables as they are printed, and what stands for their rows and columns."""

import json
from dataclasses import fields
from pathlib import Path

import headlight
from headlight.cli.evaluating import Paper
from headlight.report import published
from headlight.report.published import PUBLISHED, Experiment, PublishedRow

HOME = Path(published.__file__).parent


def test_every_file_is_a_paper_and_every_paper_a_command() -> None:
    assert {path.stem for path in HOME.glob("*.json")} == set(PUBLISHED)
    assert [paper.value for paper in Paper] == list(PUBLISHED)


def test_figures_are_those_of_the_papers() -> None:
    tables = {name: {e.source: e for e in p.experiments} for name, p in PUBLISHED.items()}
    ours = tables["mask_lrp"]["Table 1, sst2"].rows["Ours"]
    assert ours == PublishedRow("mask_lrp", (0.438, -1.208))
    squad = tables["mask_lrp"]["Table 2, SQuAD v1, BERT"]
    assert (squad.rows["Ours"].printed, squad.factor) == ((52.97,), 100.0)
    attcat = tables["attcat"]["Tables 1 and 2, imdb"]
    assert attcat.rows["AttCAT"].printed == (0.528, -3.671, 0.023)
    assert attcat.rows["Rollout"].printed == (0.331, -1.323, None)
    assert tables["alti"]["Table 2, sst2, roberta"].rows["ALTI"].printed == (0.269, 0.057)
    assert tables["decoded"]["Table 1b, AG News"].rows["Shapely"].printed == (0.905, 0.567)


def test_files_have_no_field_that_is_not_read() -> None:
    known = {field.name for field in fields(Experiment)}
    for path in HOME.glob("*.json"):
        kept = json.loads(path.read_text(encoding="utf-8"))
        assert set(kept) == {"title", "notes", "experiments"}
        for experiment in kept["experiments"]:
            assert set(experiment) <= known
            assert all(set(row) == {"method", "printed"} for row in experiment["rows"].values())


def test_published_rows_name_methods_and_metrics_that_exist() -> None:
    for publication in PUBLISHED.values():
        for experiment in publication.experiments:
            for row in experiment.rows.values():
                assert row.method.partition(":")[0] in headlight.METHODS
                assert len(row.printed) == len(experiment.columns)
            for metric in experiment.columns.values():
                assert metric.partition("@")[0] in headlight.METRICS
            assert experiment.stand_in in (
                "sentiment",
                "nli",
                "paraphrase",
                "qa",
                "topic",
                "agreement",
            )
