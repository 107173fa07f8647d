"""Every kind of result has its drawing in terminals and notebooks."""

import numpy as np
import pytest

from headlight import (
    Ablated,
    Answer,
    Attribution,
    Generation,
    HeadEffects,
    HeadMask,
    TokenMixing,
)
from headlight.display import DISPLAYS, html_of, terminal_form
from headlight.renderers import displays
from tests.renderers.answers.made import answered
from tests.renderers.test_html import generated
from tests.renderers.test_terminal import printed
from tests.test_ablated import ablated, effects
from tests.test_attribution import made

RESULTS: dict[type, object] = {
    Answer: answered(),
    Attribution: made(),
    Generation: generated(2),
    TokenMixing: TokenMixing(("a", "b"), np.eye(2)[None], "alti", "toy"),
    HeadMask: HeadMask.full(2, 3),
    Ablated: ablated(),
    HeadEffects: effects(),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_results_are_drawn_in_both_forms(kind: type) -> None:
    assert displays.__doc__
    assert kind in DISPLAYS.known
    shown = html_of(RESULTS[kind])
    assert shown.startswith("<div") or "<table" in shown
    assert RESULTS[kind]._repr_html_() == shown  # type: ignore[attr-defined]
    assert printed(terminal_form(RESULTS[kind]), no_color=True).strip()
