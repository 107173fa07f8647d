"""The hub is asked once, and its cache is read."""

import time
from pathlib import Path
from unittest.mock import Mock

import pytest
from huggingface_hub import CacheNotFound
from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

import headlight
from headlight import InvalidInput
from headlight.loading import hub


def test_an_unreachable_hub_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    started = time.perf_counter()
    assert "cannot be reached" in hub.hub_answers("someone/model")
    with pytest.raises(InvalidInput, match="cannot be reached"):
        headlight.load("someone/no-such-model")
    assert time.perf_counter() - started < hub.SECONDS


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (None, hub.YES),
        (RepositoryNotFoundError, "the hub has no such model, or it is private"),
        (RevisionNotFoundError, "the hub has no such model, or it is private"),
        (OSError, "the hub cannot be reached (first line)"),
    ],
)
def test_what_the_hub_answers_is_a_sentence(
    error: type[Exception] | None, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def model_info(_api: object, name: str, **given: object) -> None:
        asked.append((name, given))
        if error is OSError:
            raise OSError("first line.\nsecond line")
        if error is not None:
            raise error("no", response=Mock())  # type: ignore[call-arg]

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", model_info)
    assert hub.hub_answers("someone/model", "abc") == said
    assert asked == [("someone/model", {"revision": "abc", "timeout": hub.SECONDS})]


def test_files_of_the_cache_are_found_and_wrong_names_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: dict[str, object] = {
        "here": str(tmp_path / "config.json"),
        "known to be missing": object(),
    }
    monkeypatch.setattr(
        "huggingface_hub.try_to_load_from_cache", lambda name, _file, revision: found.get(name)
    )
    assert hub.cached_file("here", "config.json") == tmp_path / "config.json"
    assert hub.cached_file("known to be missing", "config.json") is None
    assert hub.cached_file("nowhere", "config.json") is None
    monkeypatch.undo()
    assert hub.cached_file("not a/name of/the hub", "config.json") is None


def test_models_of_the_cache_are_listed_without_data_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    repositories = [
        Mock(repo_id=n, repo_type=t) for n, t in (("b", "model"), ("d", "dataset"), ("a", "model"))
    ]
    monkeypatch.setattr("huggingface_hub.scan_cache_dir", lambda: Mock(repos=repositories))
    assert hub.cached_models() == ["a", "b"]

    def none() -> None:
        raise CacheNotFound("no cache", cache_dir="/none")

    monkeypatch.setattr("huggingface_hub.scan_cache_dir", none)
    assert hub.cached_models() == []
