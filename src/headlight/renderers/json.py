"""Attributions and answers as JSON, for other programs."""

import json
from collections.abc import Sequence

from headlight.answer import Answer
from headlight.attribution import Attribution
from headlight.renderers.registry import RENDERERS


@RENDERERS.register("json")
def as_json(results: Sequence[Attribution] | Sequence[Answer]) -> str:
    """JSON: one result as an object that its `load` reads; several as a list of objects."""
    stored = [each.to_dict() for each in results]
    return json.dumps(stored[0] if len(stored) == 1 else stored, ensure_ascii=False) + "\n"


@RENDERERS.register("jsonl")
def as_json_lines(results: Sequence[Attribution] | Sequence[Answer]) -> str:
    """JSON lines: one object per line, which `from_dict` reads."""
    return "".join(json.dumps(each.to_dict(), ensure_ascii=False) + "\n" for each in results)
