"""Units of texts in many scripts: found by name, by span or by function, in order and without overlap."""

from collections.abc import Callable, Iterable
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headlight import HeadlightError
from headlight.units import UNITS, Span, Unit, unit_numbers, units_of


def said(text: str, name: str) -> list[str]:
    """The texts of the units of a text."""
    return [text[start:end] for start, end in UNITS[name](text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("no final stop", ["no final stop"]),
        ("It costs 3.5 dollars. Not 4.", ["It costs 3.5 dollars.", "Not 4."]),
        ("Dr. Smith met Mr. Jones. They left.", ["Dr. Smith met Mr. Jones.", "They left."]),
        ("J. K. Rowling wrote it. Yes.", ["J. K. Rowling wrote it.", "Yes."]),
        ("Use e.g. this one. Done.", ["Use e.g. this one.", "Done."]),
        ("No. It is not.", ["No.", "It is not."]),
        ("See No. 5 and Fig. 2. End.", ["See No. 5 and Fig. 2.", "End."]),
        ("At 5 p.m. we left. At 6 p.m. We ate.", ["At 5 p.m. we left.", "At 6 p.m.", "We ate."]),
        ("Apples, pears etc. are fruit.", ["Apples, pears etc. are fruit."]),
        ('"Go." she said. He went.', ['"Go." she said.', "He went."]),
        ("He said “go.” She went.", ["He said “go.”", "She went."]),
        ("Wait... what? Well… Yes.", ["Wait... what?", "Well…", "Yes."]),
        ("(So it is.) True.", ["(So it is.)", "True."]),
        ("他走了。真的吗？是！", ["他走了。", "真的吗？", "是！"]),
        ("他说：「好。」走了。", ["他说：「好。」", "走了。"]),
        ("هل هذا صحيح؟ نعم. انتهى", ["هل هذا صحيح؟", "نعم.", "انتهى"]),
        ("यह एक है। वह दो है॥ तीन", ["यह एक है।", "वह दो है॥", "तीन"]),
        ("A title\n\nIts text. More.", ["A title", "Its text.", "More."]),
        ("These:\n1. Paris.\n2. Rome\n- Bonn", ["These:", "1. Paris.", "2. Rome", "- Bonn"]),
        ("One line\r\n\r\nanother", ["One line", "another"]),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, expected: list[str]) -> None:
    assert said(text, "sentences") == expected


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("words", "don't stop, 好的 ❤️!", ["don't", "stop", ",", "好", "的", "❤️!"]),
        ("words", "👨‍👩‍👧 e\u0301té", ["👨‍👩‍👧", "e\u0301té"]),
        ("lines", "a\r\n\r\n  b \n\tc", ["a", "b", "c"]),
        ("paragraphs", "a\nb\r\n \r\nc\n\n\nd", ["a\nb", "c", "d"]),
        ("items", "Buy:\n- milk\n  fresh\n- eggs\n\nThanks", ["- milk\n  fresh", "- eggs"]),
        ("items", "1) one\n(b) two\n3. three", ["1) one", "(b) two", "3. three"]),
        ("items", "well-made - no list", []),
        ("examples", "Note: go.\n\nQ: a\nA: b\n\nQ: c\nA:", ["Q: a\nA: b", "Q: c\nA:"]),
        ("examples", "Film: x\nMood: y\nFilm: z\nMood:", ["Film: x\nMood: y", "Film: z\nMood:"]),
        ("examples", "Q: a\n\nbecause\n\nQ: b", ["Q: a\n\nbecause", "Q: b"]),
        ("examples", "Q: only one", []),
    ],
)
def test_other_units(name: str, text: str, expected: list[str]) -> None:
    assert said(text, name) == expected


@pytest.mark.parametrize("name", UNITS)
@given(text=st.text(alphabet="aB1 .!?\n\r\t-)(:\"'。؟।•…\u0301漢", max_size=60))
@settings(max_examples=150, deadline=None, derandomize=True)
def test_units_are_in_order_stripped_and_in_the_text(name: str, text: str) -> None:
    spans = list(UNITS[name](text))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(end <= later for (_, end), (later, _) in pairwise(spans))
    assert all(text[a:b] == text[a:b].strip() for a, b in spans)


@pytest.mark.parametrize("name", ["sentences", "lines", "paragraphs", "words"])
@given(text=st.text(alphabet="aB1 .!?\n\r\t-漢。", max_size=60))
@settings(max_examples=100, deadline=None, derandomize=True)
def test_units_that_cover_a_text_leave_only_white_space_out(name: str, text: str) -> None:
    covered = {c for start, end in UNITS[name](text) for c in range(start, end)}
    assert all(c in covered or letter.isspace() for c, letter in enumerate(text))


@pytest.mark.parametrize("name", UNITS)
def test_a_long_text_takes_time_in_proportion_to_its_length(name: str) -> None:
    text = "- Dr. A saw it at 3.5 p.m. and left.\nQ: no.\n" * 5_000
    started = perf_counter()
    assert list(UNITS[name](text))
    assert perf_counter() - started < 5


def test_units_are_named_by_their_text() -> None:
    assert units_of("One. Two.", "sentences") == [Unit("One.", 0, 4), Unit("Two.", 5, 9)]
    assert units_of("One. Two.", [(5, 9), (0, 3)]) == [Unit("One", 0, 3), Unit("Two.", 5, 9)]
    assert units_of("ab", np.array([[0, 1], [1, 2]]).tolist()) == [Unit("a", 0, 1), Unit("b", 1, 2)]
    numbers: Any = [(np.int64(0), np.int64(1))]
    assert units_of("ab", numbers) == [Unit("a", 0, 1)]


def test_a_function_finds_units() -> None:
    def halves(text: str) -> Iterable[Span]:
        yield 0, len(text) // 2
        yield len(text) // 2, len(text)

    assert [unit.name for unit in units_of("abcd", halves)] == ["ab", "cd"]


def test_known_units_come_first_and_others_are_looked_for_in_stretches() -> None:
    known = {"sources": (Unit("notes", 0, 3),)}
    assert units_of("One. Two.", "sources", known) == [Unit("notes", 0, 3)]
    within = [Unit("a", 0, 4), Unit("b", 9, 13)]
    found = units_of("one two three", "words", within=within)
    assert [unit.name for unit in found] == ["one", "hree"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ("sentence", "no unit named 'sentence'. Did you mean 'sentences'"),
        ("items", "units='items': the text has none of these. Choose other units"),
        ([], "units: the text has none of these"),
        ([(0, 3), (2, 4)], r"units: \(0, 3\) and \(2, 4\) overlap"),
        ([(0, 99)], r"units: \(0, 99\) is no stretch of the text, which has 8 characters"),
        ([(2, 2)], r"units: \(2, 2\) is no stretch"),
        ([(-1, 2)], r"units: \(-1, 2\) is no stretch"),
        ([(3, 4)], r"units: \(3, 4\) covers only white space"),
        ([(0, 1.5)], r"units: \(0, 1.5\) is not a pair"),
        ([(0, True)], r"units: \(0, True\) is not a pair"),
        ([0, 3], "units: 0 is not a pair"),
        (["one"], "units: 'one' is not a pair"),
        (5, "units: 5 is no list of spans. Give a name"),
        ({"a": (0, 1)}, "is no list of spans"),
        (lambda _: None, "units: what the function returned, None, is no list of spans"),
        (lambda text: text, "units: what the function returned, .one two.., is no list"),
        (lambda _: [], "units: the text has none of these"),
    ],
)
def test_units_that_do_not_fit_are_refused(asked: Any, message: str) -> None:
    with pytest.raises(HeadlightError, match=message):
        units_of("one two.", asked)


@pytest.mark.parametrize(
    ("offsets", "numbers"),
    [
        ([(0, 3), (3, 7), (7, 8)], [0, 1, None]),
        ([(0, 5)], [0]),  # reaches over a border: the unit in which it begins
        ([(3, 4), (2, 5)], [None, 0]),
        ([(0, 0), (8, 8)], [None, None]),
    ],
)
def test_a_token_belongs_to_the_unit_in_which_it_begins(
    offsets: list[Span], numbers: list[int | None]
) -> None:
    units = [Unit("one", 0, 3), Unit("two", 4, 7)]
    assert unit_numbers(units, "one two.", offsets) == numbers


def test_every_unit_can_be_found_by_a_function_with_its_name() -> None:
    finders: dict[str, Callable[[str], Iterable[Span]]] = dict(UNITS)
    for name, find in finders.items():
        assert find.__name__ == name
        assert find.__doc__
