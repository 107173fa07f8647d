"""Explanations as files."""

from collections.abc import Sequence

from fastapi.responses import Response

from headlight.attribution import Attribution
from headlight.renderers import RENDERERS
from headlight.web.questions import Export

FILES = {
    "html": ("html", "text/html; charset=utf-8"),
    "svg": ("svg", "image/svg+xml"),
    "json": ("json", "application/json"),
    "latex": ("tex", "application/x-tex"),
}
"""By format: the suffix of the file, and its media type."""


def export(attributions: Sequence[Attribution], question: Export) -> Response:
    """An explanation as a download; never opened as a page of this site."""
    shown = [each.words() for each in attributions] if question.words else list(attributions)
    entry = RENDERERS[question.format]
    is_compared = question.difference and len(shown) > 1 and "difference" in entry.options
    content = entry.function(shown, **({"difference": True} if is_compared else {}))
    suffix, kind = FILES[question.format]
    return Response(
        content,
        media_type=kind,
        headers={"Content-Disposition": f'attachment; filename="headlight.{suffix}"'},
    )
