"""The models of a server: in their order, with what the page offers for each."""

import pytest

from headlight import Model
from headlight.web.loaded_models import LoadedModels
from tests.web.sites import Site


def test_about_tells_what_can_be_asked(page: Site, models: dict[str, Model]) -> None:
    about = page.get("/api/about").json()
    assert [each["name"] for each in about["models"]] == list(models)
    assert about["loading"] == []
    assert about["failed"] == {}
    assert {each["default_method"] for each in about["models"]} == {"attn_lrp"}
    assert about["limits"]["tokens"] == 512
    told = {each["name"]: each for each in about["models"]}
    assert told["sentiment"]["labels"] == ["negative", "positive"]
    assert told["sentiment"]["has_mask"]
    assert not told["classifier"]["has_mask"]
    assert "mask_lrp" in told["classifier"]["methods"]
    assert [each["optional"] for each in told["classifier"]["fields"]] == [False, True]
    assert [each["label"] for each in told["reader"]["fields"]] == ["Question", "Context"]
    assert [name for name, each in told.items() if each["generates"]] == ["writer"]
    assert told["writer"]["changes"] == ["delete", "pad"]
    costs = {each["name"]: each["cost"] for each in about["methods"]}
    assert (costs["attcat"], costs["shapley"]) == ("fast", "slow")
    for each in about["models"]:
        assert set(each["layered"]) <= set(each["methods"]) <= set(costs)
        assert each["examples"]


def test_every_example_of_an_own_model_can_be_explained(page: Site) -> None:
    (told, *_) = page.get("/api/about").json()["models"]
    for example in told["examples"]:
        page.answer("explain", model=told["name"], **example, methods=["attcat"])


def test_models_come_one_after_the_other_and_a_bad_one_is_told(
    folder: str, caplog: pytest.LogCaptureFixture
) -> None:
    loaded = LoadedModels((folder, "nowhere/nothing"))
    assert loaded.loading == [folder, "nowhere/nothing"]
    loaded.fill_up()
    assert loaded.loading == []
    assert list(loaded.models) == [folder]
    assert "no model could be loaded from 'nowhere/nothing'" in loaded.failed["nowhere/nothing"]
    assert "nowhere/nothing cannot be loaded" in caplog.text
