"""The models of a server: in their order, with what the page offers for each."""

from threading import Event

import pytest

from headlight import Model, UnknownName
from headlight.web import loaded_models
from headlight.web.loaded_models import LoadedModels, example_text, examples, text_fields
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


def test_the_first_model_is_there_at_once_and_the_others_come(
    classifier: Model, tagger: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, gate = {"one": classifier, "two": tagger}, Event()

    def load(name: str, **_place: object) -> Model:
        assert name == "one" or gate.wait(10)
        return known[name]

    monkeypatch.setattr(loaded_models, "load", load)
    loaded = LoadedModels(("one", "two"))
    loaded.fill()
    assert (list(loaded.models), loaded.loading) == (["one"], ["two"])
    with pytest.raises(UnknownName, match="no model on this server named 'two'"):
        loaded["two"]
    gate.set()
    for loader in loaded.loaders:
        loader.join(10)
    assert loaded["two"] is tagger
    loaded.close()


def test_a_server_that_closes_loads_nothing_more(
    classifier: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(loaded_models, "load", lambda name, **_: asked.append(name) or classifier)  # type: ignore[func-returns-value]
    loaded = LoadedModels(("one", "two"))
    loaded.close()
    loaded.fill()
    loaded.close()
    assert asked == ["one"]


def test_texts_that_a_model_reads_have_names(
    classifier: Model, filler: Model, writer: Model, reader: Model
) -> None:
    assert [f["label"] for f in text_fields(classifier, "nli")] == ["First text", "Second text"]
    assert [f["label"] for f in text_fields(classifier, "sentiment")] == ["Text"]
    assert [f["optional"] for f in text_fields(classifier, "theirs")] == [False, True]
    assert examples(filler, "theirs")[0].count("[MASK]") == 1
    assert examples(writer, "theirs")
    assert isinstance(examples(reader, "theirs")[0], tuple)
    assert example_text(("a", "b")) == {"text": "a", "pair": "b"}
    assert example_text("a") == {"text": "a", "pair": None}
