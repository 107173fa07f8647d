"""JSON from files: objects with a repeated name, and values nested too deeply for Python, are refused."""

import json
from collections import Counter
from typing import Any

from headlight.errors import InvalidInput


def parse_json(text: str, where: str) -> Any:
    """The value of a JSON text; `where` names its source in errors."""
    try:
        return DECODER.decode(text)
    except RecursionError as error:
        raise InvalidInput(f"{where} is nested too deeply to be read.") from error
    except ValueError as error:
        raise InvalidInput(f"{where} is not JSON: {error}.") from error


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these pairs; refused if a name is repeated, because Python would keep the last silently."""
    values = dict(pairs)
    if len(values) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise ValueError(f"it has '{twice}' twice in one object")
    return values


DECODER = json.JSONDecoder(object_pairs_hook=unique)
"""Made once, because making a decoder takes longer than reading a line with it."""
