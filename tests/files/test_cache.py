"""Where headlight keeps what it has worked out."""

from pathlib import Path

import pytest

from headlight.files.cache import cache_folder


def test_the_cache_is_moved_by_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HEADLIGHT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "headlight"
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/xdg")
    assert cache_folder() == Path("/var/xdg/headlight")
    monkeypatch.setenv("HEADLIGHT_CACHE", "/var/own")
    assert cache_folder() == Path("/var/own")
