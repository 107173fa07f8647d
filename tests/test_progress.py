"""Progress on standard error: a bar in a terminal, elsewhere a line now and then."""

import re
import sys
import time

import pytest

from headlight import progress
from headlight.progress import progress_of


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.01)


def errors_when(capsys: pytest.CaptureFixture[str], wanted: str) -> str:
    """Standard error, once it says what is wanted."""
    said, deadline = "", time.monotonic() + 10
    while wanted not in said and time.monotonic() < deadline:
        time.sleep(0.01)
        said += capsys.readouterr().err
    return said


@pytest.mark.usefixtures("quick")
def test_without_a_terminal_lines_say_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of("explaining", 2000, is_shown=True) as advance:
        assert "explaining: 0 of 2,000 after 0 min\n" in errors_when(capsys, "0 of")
        advance(1200)
        assert "explaining: 1,200 of 2,000" in errors_when(capsys, "1,200")
    with progress_of("counting", None, is_shown=True) as advance:
        advance(3)
        assert "counting: 3 after 0 min" in errors_when(capsys, "3 after")


def test_short_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for is_shown in (True, False):
        with progress_of("explaining", 2, is_shown=is_shown) as advance:
            advance(2)
    assert capsys.readouterr().err == ""


@pytest.mark.usefixtures("quick")
def test_a_failure_stops_the_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(KeyboardInterrupt), progress_of("explaining", 1, is_shown=True):
        raise KeyboardInterrupt
    capsys.readouterr()
    time.sleep(0.05)
    assert capsys.readouterr().err == ""


def test_a_terminal_shows_a_bar_for_several(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_of("explaining", 3, is_shown=True) as advance:
        advance(3)
    assert "3/3" in capsys.readouterr().err
    with progress_of("explaining", 1, is_shown=True) as advance:
        advance(1)
    assert capsys.readouterr().err == ""


def test_a_bar_says_what_is_done_now_and_how_fast(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_of("evaluating", 40, is_shown=True, unit="examples") as advance:
        advance(10, "explaining")
        time.sleep(0.02)
        advance(10, "measuring")
        time.sleep(0.02)
        advance(20)
    said = capsys.readouterr().err
    assert "measuring" in said
    assert "40/40" in said
    assert re.search(r"\d+\.\d examples/s", said)


@pytest.mark.usefixtures("quick")
def test_lines_keep_the_name_of_the_whole_work(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_of("evaluating", 40, is_shown=True, unit="examples") as advance:
        advance(10, "explaining")
        assert "evaluating: 10 of 40 after 0 min\n" in errors_when(capsys, "10 of")
