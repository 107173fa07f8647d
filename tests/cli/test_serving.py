"""`serve` hands on what was asked, and nothing before it is known to work."""

import socket
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from headlight.cli import app, serving
from headlight.loading import catalogue
from headlight.web import server
from headlight.web.loaded_models import LoadedModels

Call = tuple[LoadedModels, list[Path], server.Address, Any, Any]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[Call]:
    """What the server is started with, which is not started."""
    found: list[Call] = []
    monkeypatch.setattr(server, "serve", lambda *call: found.append(call))
    monkeypatch.delenv("HEADLIGHT_TOKEN", raising=False)
    return found


def test_options_reach_the_server(
    calls: list[Call], folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADLIGHT_TOKEN", "secret")
    asked = [
        "serve",
        "-m",
        folder,
        "--port",
        "0",
        "--characters",
        "50",
        "--seconds",
        "2",
        "--waiting",
        "3",
        "--device",
        "cpu",
        "--dtype",
        "bfloat16",
    ]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    ((models, runs, address, limits, say),) = calls
    assert (models.names, models.device, models.dtype) == ((folder,), "cpu", "bfloat16")
    assert runs == []
    assert address == server.Address("127.0.0.1", 0, "secret")
    assert (limits.characters, limits.seconds, limits.waiting) == (50, 2.0, 3)
    say("ready")


def test_without_a_model_those_that_are_here_are_served_but_no_helper(
    calls: list[Call], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "is_here", lambda entry: entry.base is catalogue.MINILM)  # type: ignore[attr-defined]
    assert CliRunner().invoke(app, ["serve", "--port", "0"]).exit_code == 0
    monkeypatch.setattr(catalogue, "is_here", lambda _entry: False)
    assert CliRunner().invoke(app, ["serve", "--port", "0"]).exit_code == 0
    (present, *_), (absent, *_) = calls
    assert "sentiment" in present.names
    assert serving.LEFT_OUT not in present.names
    assert "llm" not in present.names
    assert absent.names == ("sentiment",)


def test_a_taken_port_is_told_before_anything_is_loaded(calls: list[Call], folder: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        result = CliRunner().invoke(app, ["serve", "-m", folder, "--port", port])
    assert "Choose another --port" in str(result.exception)
    assert not calls


def test_a_folder_without_a_run_is_told(calls: list[Call], tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["serve", "--run", str(tmp_path), "--port", "0"])
    assert "there is no run in" in str(result.exception)
    assert not calls
