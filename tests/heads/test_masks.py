"""Masks of a model: its own, a learned one, and none of another."""

from pathlib import Path

import numpy as np
import pytest
import torch

import headlight
from headlight import HeadMask, InvalidInput, Model
from headlight.heads import HeadImportance, learn, masks
from headlight.heads.masks import chosen_mask, find_mask, own_mask
from headlight.models.fingerprint import fingerprint
from tests.heads.made_up import PARSES
from tests.heads.test_statistics import small_statistics


def test_a_mask_of_another_model_is_refused(sentiment: Model, tmp_path: Path) -> None:
    path = tmp_path / "mask.safetensors"
    learn(headlight.load("topic"), PARSES).mask().save(path)
    with pytest.raises(InvalidInput, match="was learned on 'topic'"):
        headlight.explain(sentiment, "a fine film", "mask_lrp", mask=path)
    with pytest.raises(InvalidInput, match="was learned on 'topic'"):
        headlight.explain(sentiment, "a fine film", "mask_lrp", mask=HeadMask.load(path))


@pytest.mark.slow
def test_an_automatic_mask_is_learned_once(
    sentiment: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path))
    first = chosen_mask(sentiment, "auto")
    assert first.facts["corpus"] == "made-up sentences"
    monkeypatch.setattr("headlight.heads.masks.learn", None)
    assert torch.equal(chosen_mask(sentiment, "auto").heads, first.heads)


def test_an_embedded_model_has_its_own_mask(sentiment: Model) -> None:
    mask = own_mask(sentiment)
    assert 0 < mask.count < 72
    found = headlight.explain(sentiment, "a charming film", "mask_lrp")
    assert found.options["mask"] == str(mask)
    parts = [
        headlight.explain(sentiment, "a charming film", "mask_lrp", mask=part).scores
        for part in ("syntactic", "positional")
    ]
    assert not np.allclose(*parts)  # type: ignore[arg-type]


def test_a_network_trained_in_place_no_longer_fits_its_mask() -> None:
    model = headlight.load("sentiment")
    assert own_mask(model) is own_mask(model)  # read once
    # Changes through .data are not seen by torch's own counter of changes.
    model.network.get_parameter("classifier.weight").data.mul_(-1)
    with pytest.raises(InvalidInput, match="was learned on 'sentiment'"):
        own_mask(model)


def test_masks_are_found_by_name_file_or_counts(tmp_path: Path) -> None:
    embedded = find_mask("sentiment")
    embedded.save(tmp_path / "mask")
    small_statistics().save(tmp_path / "counts")
    assert torch.equal(find_mask(tmp_path / "mask").heads, embedded.heads)
    selected = find_mask(tmp_path / "counts", syntactic=0.3, positional=0.5)
    expected = small_statistics().mask(syntactic=0.3, positional=0.5)
    assert torch.equal(selected.heads, expected.heads)
    HeadImportance(torch.tensor([[1.0, 2.0]])).save(tmp_path / "importance")
    assert find_mask(tmp_path / "importance", keep=0.5).heads.tolist() == [[False, True]]
    (tmp_path / "text").write_text("no tensors")
    with pytest.raises(InvalidInput, match="no head mask can be read"):
        find_mask(tmp_path / "text")
    with pytest.raises(
        InvalidInput, match=r"there is no file 'sentimnt', nor an embedded model.*sentiment"
    ):
        find_mask("sentimnt")


def test_a_mask_that_is_learned_is_kept_by_fingerprint(
    classifier: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path))
    monkeypatch.setattr(masks, "made_up_corpus", lambda: list(PARSES))
    first = chosen_mask(classifier, "auto")
    assert first.facts["corpus"] == "made-up sentences"
    (kept,) = (tmp_path / "masks").iterdir()
    assert kept.stem == fingerprint(classifier)
    monkeypatch.setattr(masks, "learn", None)
    assert torch.equal(chosen_mask(classifier, "auto").heads, first.heads)


def test_names_of_the_package_are_loaded_when_they_are_used() -> None:
    assert set(dir(headlight.heads)) == set(headlight.heads.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = headlight.heads.nothing
