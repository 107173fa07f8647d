"""The folder in which headlight keeps what it has computed."""

import os
from pathlib import Path

CACHE_VARIABLE = "HEADLIGHT_CACHE"


def cache_folder() -> Path:
    """The folder in which headlight keeps what it has computed; HEADLIGHT_CACHE moves it."""
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headlight"
