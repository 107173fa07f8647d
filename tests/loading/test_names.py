"""What the name of a model means, and what a wrong one gets, before torch and the hub are asked."""

import json
from pathlib import Path

import pytest

import headlight
from headlight import InvalidInput, UnknownName
from headlight.loading import names
from headlight.loading.names import check_name, known_config, known_task
from headlight.models.task import Task

CONFIG = {"model_type": "bert", "architectures": ["BertForTokenClassification"]}


def folder_of(path: Path, *files: str, config: object = CONFIG) -> Path:
    """A folder with a config.json and empty files of these names."""
    path.mkdir(parents=True)
    (path / "config.json").write_text(json.dumps(config))
    for name in files:
        (path / name).touch()
    return path


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a network: asking the hub fails the test."""

    def asked(*_: object, **__: object) -> str:
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("headlight.loading.names.hub_answers", asked)


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize(
    ("name", "near"),
    [("sentimnt", "sentiment"), ("Sentiment", "sentiment"), ("LLM", "llm"), ("topics", "topic")],
)
def test_a_mistyped_model_is_refused_without_the_hub(name: str, near: str) -> None:
    with pytest.raises(UnknownName, match=f"no model named '{name}'. Did you mean '{near}'"):
        headlight.load(name)


def test_a_near_name_that_is_in_the_cache_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "cached_file", lambda *_: Path("config.json"))
    check_name("sentimnt")


@pytest.mark.parametrize("name", ["gpt2", "bert-base-uncased", "someone/sentimnt", "qa", "llm"])
def test_names_that_may_be_of_the_hub_pass(name: str) -> None:
    check_name(name)


@pytest.mark.usefixtures("no_hub")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "no hub model can have such a name"),
        ("a charming film", "no hub model can have such a name"),
        ("./missing", "there is no such folder"),
        ("some/where/else", "there is no such folder"),
        ("C:\\models\\mine", "there is no such folder"),
    ],
)
def test_what_is_neither_a_folder_nor_of_the_hub_says_so(name: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        headlight.load(name)


@pytest.mark.usefixtures("no_hub")
def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path) -> None:
    def refusal(path: Path) -> str:
        with pytest.raises(InvalidInput, match="no model could be loaded from") as caught:
            headlight.load(path)
        return str(caught.value)

    (tmp_path / "empty").mkdir()
    assert "the folder is empty" in refusal(tmp_path / "empty")
    inner = folder_of(tmp_path / "outer" / "inner")
    assert "no config.json, but its folders 'inner' have one" in refusal(tmp_path / "outer")
    assert "no weights (model.safetensors)" in refusal(inner)
    assert f"it is a file, and not an adapter. Its folder is '{inner}'" in refusal(
        inner / "config.json"
    )
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").touch()
    assert "its adapter_config.json cannot be read" in refusal(adapter)
    for content in ("", "[]", "{}", "[" * 100_000, '{"model_type": 3}'):
        (inner / "config.json").write_text(content)
        assert "its config.json" in refusal(inner)


def test_what_is_known_without_loading(tmp_path: Path) -> None:
    path = folder_of(tmp_path / "m", "model.safetensors", config=CONFIG | {"num_hidden_layers": 3})
    check_name(path)
    assert known_task(path) is Task.TOKEN
    assert known_config(path)["num_hidden_layers"] == 3
    assert known_task("qa") is Task.QUESTION
    assert known_config("sentiment")["num_hidden_layers"] == 6
    assert known_config("someone/never-heard-of") == {}
    assert known_task("someone/never-heard-of") is None
