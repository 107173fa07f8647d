"""The hub is asked once, and its cache is read."""

import time

import pytest

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
