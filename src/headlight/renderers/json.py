"""Attributions as JSON, for other programs."""

import json
from collections.abc import Sequence

from headlight.attribution import Attribution
from headlight.renderers.registry import RENDERERS


@RENDERERS.register("json")
def as_json(attributions: Sequence[Attribution]) -> str:
    """JSON: one attribution as an object that `Attribution.load` reads; several as a list of objects."""
    stored = [a.to_dict() for a in attributions]
    return json.dumps(stored[0] if len(stored) == 1 else stored, ensure_ascii=False) + "\n"


@RENDERERS.register("jsonl")
def as_json_lines(attributions: Sequence[Attribution]) -> str:
    """JSON lines: one object per line, which `Attribution.from_dict` reads."""
    return "".join(json.dumps(a.to_dict(), ensure_ascii=False) + "\n" for a in attributions)
