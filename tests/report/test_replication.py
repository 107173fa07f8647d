"""A paper's table, computed again."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from headlight import InvalidInput, Model, UnknownName
from headlight.evaluation.evaluate import evaluate
from headlight.report import replication
from headlight.report.published import PUBLISHED, Publication, PublishedRow
from headlight.report.replication import (
    Replication,
    markdown,
    reached_data,
    reached_model,
    replicate,
    scaled,
)


@pytest.mark.slow
def test_a_papers_table_is_computed_offline_and_says_so() -> None:
    first = next(replicate("decoded", offline=True, limit=2))
    assert not first.is_paper_model
    assert "need not agree: 'sentiment' on 'samples/sentiment', 2 examples" in first.said
    lines = markdown(first).splitlines()
    assert (
        lines[2]
        == "| method | Revealing (paper) | Revealing (ours) | Hiding (paper) | Hiding (ours) |"
    )
    assert any(line.startswith("| Decoded Grad-CAM l7 | 0.867 | ") for line in lines)
    assert all(not math.isnan(ours) for cells in first.cells.values() for _, ours in cells)


def test_layers_are_scaled_to_the_depth_of_a_network(classifier: Model) -> None:
    assert scaled("decoded_grad_cam:layer=8", classifier) == "decoded_grad_cam:layer=2"
    assert scaled("attcat", classifier) == "attcat"
    both = scaled("decoded_grad_cam:layer=8,variant=released", classifier)
    assert both == "decoded_grad_cam:layer=2,variant=released"


def test_an_unknown_paper_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"no paper named 'altii'. Did you mean 'alti'"):
        list(replicate("altii"))


EXPERIMENT = replace(
    PUBLISHED["decoded"].experiments[0],
    model="someone/their-model",
    data="sst2",
    stand_in="sentiment",
    columns={"AOPC": "aopc"},
    rows={"Ours": PublishedRow("attcat", (0.5,)), "Chance": PublishedRow("random", (None,))},
    factor=100.0,
    limit=2,
    explain="predicted",
    variant="paper",
)


@pytest.fixture
def stand_in(classifier: Model, monkeypatch: pytest.MonkeyPatch) -> Model:
    """A machine that has the stand-in alone."""

    def load(name: str) -> Model:
        if name == "sentiment":
            return classifier
        raise InvalidInput("the hub cannot be reached")

    monkeypatch.setattr(replication, "load", load)
    return classifier


def test_a_table_of_another_model_is_run_and_says_so(
    stand_in: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "dev.jsonl"
    lines = [
        json.dumps({"text": text, "label": 1}) for text in ("a good film", "a bad plot", "dull")
    ]
    copy.write_text("\n".join(lines), encoding="utf-8")
    paper = Publication("A paper", "", (EXPERIMENT, EXPERIMENT))
    monkeypatch.setitem(PUBLISHED, "theirs", paper)
    monkeypatch.setattr(replication, "reached_data", lambda *_: (f"{copy}:text,label", True))
    (found,) = replicate("theirs", out=tmp_path / "runs")
    assert (found.model, found.count) == ("tiny classifier", 2)
    assert (found.is_paper_model, found.is_paper_data) == (False, True)
    assert found.said.startswith("Ours use another model or other data")
    (printed, ours), (nothing, _) = (cells[0] for cells in found.cells.values())
    assert (printed, nothing) == (0.5, None)
    own = evaluate(
        stand_in,
        f"{copy}:text,label",
        ["attcat"],
        ["aopc"],
        explain="predicted",
        limit=2,
        threads=1,
    )
    assert ours == pytest.approx(100 * own.summary("aopc", "attcat").mean, rel=1e-3)
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["theirs-0-sst2"]
    assert markdown(found).splitlines()[-1].startswith("| Chance | – | ")


def loader() -> Callable[[str], Model]:
    """What loads models at this moment."""
    found: Callable[[str], Model] = vars(replication)["load"]
    return found


def test_the_papers_own_model_and_data_are_taken_where_they_can_be_had(
    stand_in: Model, classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reached_model(EXPERIMENT, False, loader()) == (classifier, False)
    assert reached_data(EXPERIMENT, {"sst2": "dev.jsonl"}, True) == ("sst2=dev.jsonl", True)
    assert reached_data(EXPERIMENT, {}, True) == ("samples/sentiment", False)
    monkeypatch.setattr(replication, "load", lambda _name: classifier)
    assert reached_model(EXPERIMENT, False, loader()) == (classifier, True)
    assert reached_model(EXPERIMENT, True, loader()) == (classifier, False)

    def source(rows: list[int]) -> SimpleNamespace:
        return SimpleNamespace(read=lambda _skipped: iter(rows))

    for rows, expected in (([1], ("sst2", True)), ([], ("samples/sentiment", False))):
        monkeypatch.setattr(replication, "describe_source", lambda _name, r=rows: source(r))
        assert reached_data(EXPERIMENT, {}, False) == expected


def test_a_table_of_the_papers_own_is_said_to_be_one() -> None:
    found = Replication(EXPERIMENT, "m", "d", 7, True, True, {"Ours": ((0.5, math.nan),)})
    assert found.said == "Ours: the paper's model and data, 7 examples."
    assert markdown(found).splitlines()[-1] == "| Ours | 0.500 | – |"
