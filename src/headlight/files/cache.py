"""Where headlight keeps what it has worked out."""

import os
from pathlib import Path

CACHE_VARIABLE = "HEADLIGHT_CACHE"


def cache_folder() -> Path:
    """Where headlight keeps what it has worked out; HEADLIGHT_CACHE moves it."""
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "headlight"
