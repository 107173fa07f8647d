"""JSON as it is met in files: never deeper than Python can go, and no name twice in an object."""

import json
from collections import Counter
from typing import Any

from headlight.errors import InvalidInput


def parse_json(text: str, where: str) -> Any:
    """The value of a JSON text; `where` says whose it is if it cannot be read."""
    try:
        return DECODER.decode(text)
    except RecursionError as error:
        raise InvalidInput(f"{where} is nested too deeply to be read.") from error
    except ValueError as error:
        raise InvalidInput(f"{where} is not JSON: {error}.") from error


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; of two values with one name Python would keep the last in silence."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"it has '{twice}' twice in one object")
    return found


DECODER = json.JSONDecoder(object_pairs_hook=unique)
"""Made once: a line of a file takes longer to begin than to read."""
