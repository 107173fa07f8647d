"""Characters as they are drawn: what is seen, how wide it is, which way it runs."""

import pytest

from headlight.renderers.characters import (
    clusters,
    direction,
    harmless,
    is_cursive,
    lined,
    visible,
    width_of,
)

FAMILY = "👨\u200d👩\u200d👧"


@pytest.mark.parametrize("unfit", ["\x00", "\x1b", "\u202e", "\u2066", "\ud800", "\ufffe"])
def test_what_must_not_be_drawn_is_a_sign(unfit: str) -> None:
    assert harmless(f"a{unfit}b") == "a\ufffdb"


def test_white_space_stays_or_becomes_a_space() -> None:
    assert harmless("a\n\tb") == "a\n\tb"
    assert visible("a\r\nb\tc\u00a0d\x07") == "a b c d\ufffd"
    assert lined("a\r\nb\tc\u00a0d\x07") == "a\nb c d\ufffd"


def test_what_is_seen_as_one_character_is_one() -> None:
    assert clusters(f"e\u0301{FAMILY}🇫🇷x") == ["e\u0301", FAMILY, "🇫🇷", "x"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0.0),
        ("i", 0.31),
        ("a", 0.57),
        ("A", 0.68),
        ("m", 0.92),
        ("e\u0301", 0.57),
        ("\u200d", 0.0),
        ("中", 1.0),
        ("🎬", 1.2),
        (FAMILY, 1.2),
        ("🇫🇷", 1.2),
        ("ai", 0.88),
    ],
)
def test_widths_are_shares_of_the_size(text: str, expected: float) -> None:
    assert width_of(text, 10.0) == pytest.approx(10 * expected)


@pytest.mark.parametrize(
    ("text", "way"), [("12 a", "L"), ("… שלום a", "R"), ("مرحبا", "R"), ("12 .", "")]
)
def test_the_first_letter_with_a_direction_decides(text: str, way: str) -> None:
    assert direction(text) == way


def test_only_arabic_letters_join() -> None:
    assert is_cursive("م")
    assert not any(map(is_cursive, "aש٣،"))
