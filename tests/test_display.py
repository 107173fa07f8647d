"""Results show themselves in terminals and notebooks."""

import pytest

from headlight.display import DISPLAYS, Display, Displays, html_of, terminal_form
from tests.test_attribution import made


def test_show_prints_the_heat_map(capsys: pytest.CaptureFixture[str]) -> None:
    made().words().show()
    assert "unbelievable  -0.2" in capsys.readouterr().out


class Result:
    """A kind of result that nothing draws yet."""


def test_a_drawing_is_looked_for_when_a_result_is_first_shown() -> None:
    displays, asked = Displays({}), []

    def find(name: str) -> None:
        asked.append(name)
        displays.register(Result, lambda _: "<p>", lambda _: "text")

    displays.find = find
    for _ in range(2):
        assert displays.of(Result()).html(Result()) == "<p>"
    assert asked == ["Result"]


def test_a_result_without_a_drawing_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        Displays({}).of(Result())


def test_a_result_may_have_no_form_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DISPLAYS.known, Result, Display(lambda _: "<p>"))
    assert html_of(Result()) == "<p>"
    with pytest.raises(AssertionError, match="Result has no form for a terminal"):
        terminal_form(Result())
