"""Attributions as JSON, for other programs."""

import json
from collections.abc import Sequence

from headlight.attribution import Attribution
from headlight.renderers.registry import RENDERERS


@RENDERERS.register("json")
def as_json(attributions: Sequence[Attribution]) -> str:
    """JSON lines: one object an attribution, as `Attribution.from_dict` reads it."""
    return "\n".join(json.dumps(a.to_dict(), ensure_ascii=False) for a in attributions) + "\n"
