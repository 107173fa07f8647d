"""Decisions with and without heads: read, summed up, stored, damaged."""

import json
import pickle
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headlight import Ablated, HeadEffects, HeadlightError, HeadMask, InvalidInput
from headlight.ablated import AblatedText
from headlight.attribution import Explained
from tests.mutations import mutated_objects


def said(predicted: str, logit: float, probability: float | None) -> Explained:
    return Explained("good", predicted, logit, probability, (0,), "logit")


def ablated() -> Ablated:
    """Two texts, of which one is decided otherwise without two of six heads."""
    rows = (
        AblatedText(("a film",), said("good", 2.0, 0.9), said("bad", -1.0, 0.3), ("cut",)),
        AblatedText(("one", "two"), said("good", 1.0, 0.7), said("good", 1.5, 0.8)),
    )
    return Ablated(rows, HeadMask.at([(1, 2), (2, 3)], 2, 3), "toy")


def effects() -> HeadEffects:
    """Two texts and six heads, of which 2.1 speaks most for the decision."""
    probabilities = np.zeros((2, 2, 3))
    probabilities[:, 1, 0] = -0.5, -0.3
    probabilities[:, 0, 2] = 0.1, 0.1
    return HeadEffects(
        texts=(("a film",), ("one", "two")),
        before=(said("good", 2.0, 0.9), said("good", 1.0, 0.7)),
        logits=4 * probabilities,
        probabilities=probabilities,
        decided_otherwise=probabilities < -0.4,
        model="toy",
    )


def test_changes_are_after_minus_before() -> None:
    first, second = found = ablated()
    assert (len(found), found[1]) == (2, second)
    assert first.change == pytest.approx(-0.6)
    assert first.logit_change == -3.0
    assert (first.decided_otherwise, second.decided_otherwise) == (True, False)
    assert found.mean_change == pytest.approx(-0.25)
    assert str(found) == "2 of 6 heads off: 1 of 2 decided otherwise, probability −0.250 on average"


def test_a_value_changes_where_there_is_no_probability() -> None:
    row = AblatedText(("a",), said("value", 2.0, None), said("value", 1.5, None))
    assert row.change == -0.5
    assert "value −0.500 on average" in str(replace(ablated(), rows=(row,)))


def test_heads_are_ranked_by_what_they_change() -> None:
    found = effects()
    assert found.unit == "probability"
    assert found.mean.tolist() == [[0, 0, pytest.approx(0.1)], [pytest.approx(-0.4), 0, 0]]
    first, second = found.top(2)
    assert first == pytest.approx((2, 1, -0.4))
    assert second == pytest.approx((1, 3, 0.1))
    value = replace(found, probabilities=None, before=(said("value", 2.0, None),) * 2)
    assert value.unit == "value"
    assert value.top(1)[0] == pytest.approx((2, 1, -1.6))
    with pytest.raises(ValueError, match="read-only"):
        found.logits[0, 0, 0] = 1
    assert not pickle.loads(pickle.dumps(found)).logits.flags.writeable


def test_changes_must_fit_the_texts() -> None:
    with pytest.raises(InvalidInput, match=r"2 texts need changes .*'logits' is \[1, 2, 3\]"):
        replace(effects(), logits=np.zeros((1, 2, 3)))
    with pytest.raises(InvalidInput, match=r"'probabilities' is \[2, 3\]"):
        replace(effects(), probabilities=np.zeros((2, 3)))


def test_tables_have_a_row_per_text_and_per_head() -> None:
    table = ablated().to_dataframe()
    assert list(table["text"]) == ["a film", "one | two"]
    assert list(table["predicted_after"]) == ["bad", "good"]
    assert list(table["probability_before"]) == [0.9, 0.7]
    assert table["change"].tolist() == pytest.approx([-0.6, 0.1])
    each = effects().to_dataframe()
    assert len(each) == 12
    strongest = each.loc[each["probability_change"].idxmin()]
    assert (strongest["layer"], strongest["head"]) == (2, 1)
    assert bool(strongest["decided_otherwise"])
    none = replace(effects(), probabilities=None).to_dataframe()
    assert none["probability_change"].isna().all()


def test_results_are_stored_and_read_back(tmp_path: Path) -> None:
    for found in (ablated(), effects(), replace(effects(), probabilities=None)):
        path = tmp_path / "found.json"
        found.save(path, overwrite=True)
        assert type(found).load(path).to_dict() == found.to_dict()
        with pytest.raises(InvalidInput, match="exists"):
            found.save(path)


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    for found in (ablated(), effects()):
        for damaged in mutated_objects(found.to_dict(), 300):
            path.write_text(json.dumps(damaged), encoding="utf-8")
            with suppress(HeadlightError):
                type(found).load(path)
    stored = effects().to_dict()
    path.write_text(json.dumps(stored | {"before": stored["before"][:1]}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="are of texts without a decision"):
        HeadEffects.load(path)
    uneven = [[[0.0, 1.0], [0.0]]] * 2
    path.write_text(json.dumps(stored | {"logits": uneven}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="'logits' in head effects differ in length"):
        HeadEffects.load(path)
    path.write_text(json.dumps(ablated().to_dict() | {"rows": []}), encoding="utf-8")
    with pytest.raises(InvalidInput, match="has no rows"):
        Ablated.load(path)
