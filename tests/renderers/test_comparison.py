"""Attributions side by side, and their differences."""

from io import StringIO

import pytest
from rich.console import Console

from headlight.renderers.comparison import differences
from headlight.renderers.terminal import comparison, difference_maps
from tests.test_attribution import made


def printed(thing: object, **console: object) -> str:
    stream = StringIO()
    Console(file=stream, width=80, **console).print(thing)  # type: ignore[arg-type]
    return stream.getvalue()


def test_differences_are_of_shares_without_specials() -> None:
    other = made([5.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.4, 0.0], method="rollout", signed=False)
    (found,) = differences([made(), other])
    assert found.scores[1] == pytest.approx(0.1 / 1.3 - 0.5)
    text = printed(difference_maps([made(), other]), no_color=True)
    assert "attcat − rollout" in text
    assert "film   -0.808" in text
    assert printed(comparison([made(), other])).count("·") == 4
