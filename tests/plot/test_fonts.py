"""Text that the installed fonts can draw."""

import pytest

from headlight.plot import fonts


def test_what_no_font_has_is_a_sign(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "characters", lambda: frozenset(map(ord, "abc\u0301")))
    assert fonts.drawable("a👨\u200d👩\u200d👧b中c\u0301\ufe0f") == "a�b�c\u0301"
    assert "DejaVu Sans" in fonts.families()
