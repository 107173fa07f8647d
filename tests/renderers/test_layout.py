"""Where every piece of text goes, without drawing any."""

from itertools import pairwise

import pytest

from headlight import Attribution, InvalidInput, InvalidOption
from headlight.renderers.characters import clusters, direction, visible, width_of
from headlight.renderers.colours import GREEN, VERMILION
from headlight.renderers.comparison import panels
from headlight.renderers.layout import MARGIN, SIZE, Box, Sheet, sheet
from headlight.tokens import readable
from tests.test_attribution import made

ROOM = 720 - 2 * MARGIN


def of_text(text: str, tokens: list[str] | None = None, **changes: object) -> Attribution:
    """An attribution of a text, its words the tokens."""
    tokens = text.split() if tokens is None else tokens
    offsets, end = [], 0
    for token in tokens:
        start = text.index(token, end)
        end = start + len(token)
        offsets.append((start, end))
    count = len(tokens)
    return made(
        [(-1.0) ** number / (number + 1) for number in range(count)],
        tokens=tuple(tokens),
        texts=(text,),
        offsets=tuple(offsets),
        segments=(0,) * count,
        word_ids=tuple(range(count)),
        is_special=(False,) * count,
        **changes,
    )


def laid(answer: Attribution, **options: object) -> Sheet:
    return sheet(panels([answer]), **options)  # type: ignore[arg-type]


def lines(found: Sheet) -> list[list[Box]]:
    """The boxes of the text, line by line, from left to right."""
    shown = [box for box in found.boxes if box.style in ("piece", "special")]
    heights = sorted({box.y for box in shown})
    return [sorted((b for b in shown if b.y == y), key=lambda b: b.x) for y in heights]


def words(found: Sheet) -> list[list[str]]:
    return [[box.text for box in line] for line in lines(found)]


def test_pieces_stand_in_order_and_do_not_overlap() -> None:
    (line,) = lines(laid(made()))
    assert [box.text for box in line] == [
        "[CLS]",
        "film",
        ",",
        "un",
        "believ",
        "able",
        "film",
        "[SEP]",
    ]
    for one, other in pairwise(line):
        assert other.x >= one.x + one.width - 0.011
    un, believ, able = line[3:6]
    assert believ.x == pytest.approx(un.x + un.width, abs=0.02)
    assert able.x == pytest.approx(believ.x + believ.width, abs=0.02)
    assert line[1].hover == "film: +0.1"
    assert line[0].fill is None
    assert line[4].is_negative
    assert line[4].fill == VERMILION


def test_headline_legend_and_notes_are_there() -> None:
    found = laid(made(notes=("cut short",)))
    texts = [box.text for box in found.boxes if box.style in ("title", "note")]
    assert texts == [
        "attcat · positive (logit 1.5, probability 0.8) · toy",
        "for",
        "against",
        "scale: largest ordinary token",
        "note: cut short",
    ]
    assert [box.text for box in laid(made(signed=False)).boxes if box.fill][-1] == "matters"


def test_long_texts_are_wrapped_and_nothing_is_lost() -> None:
    text = " ".join(f"word{number}" for number in range(512))
    found = laid(of_text(text))
    assert [word for line in words(found) for word in line] == text.split()
    assert len(lines(found)) > 20
    for line in lines(found):
        assert line[0].x == MARGIN
        assert line[-1].x + line[-1].width <= MARGIN + ROOM + 0.01
    assert found.height > lines(found)[-1][0].y


def test_words_stay_whole_and_what_is_longer_than_a_line_is_broken() -> None:
    text = "a " * 40 + "unbelievable"
    tokens = ["a"] * 40 + ["un", "believ", "able"]
    assert words(laid(of_text(text, tokens), width=320.0))[-1][-3:] == ["un", "believ", "able"]
    broken = words(laid(of_text("x" * 300)))
    assert len(broken) > 2
    assert "".join(text for line in broken for text in line) == "x" * 300


def test_line_breaks_of_the_text_are_kept() -> None:
    found = laid(of_text("one two\n\nthree"))
    assert words(found) == [["one", "two"], ["three"]]
    first, second = lines(found)
    assert second[0].y - first[0].y == pytest.approx(2 * 1.7 * SIZE)


def test_the_second_text_of_a_pair_begins_a_line() -> None:
    pair = made(
        [0.1, 0.2, 0.3],
        tokens=("who", "[SEP]", "me"),
        texts=("who", "me"),
        offsets=((0, 3), (0, 0), (0, 2)),
        segments=(0, None, 1),
        word_ids=(0, None, 1),
        is_special=(False, True, False),
    )
    assert words(laid(pair)) == [["who", "[SEP]"], ["me"]]


def test_right_to_left_lines_begin_at_the_right() -> None:
    (line,) = lines(laid(of_text("שלום עולם טוב")))
    assert [box.text for box in line] == ["טוב", "עולם", "שלום"]
    assert line[-1].x + line[-1].width == pytest.approx(MARGIN + ROOM, abs=0.02)
    assert all(box.is_rtl for box in line)


def test_left_to_right_words_inside_keep_their_order() -> None:
    (line,) = lines(laid(of_text("שלום good film עולם 12 34")))
    assert [box.text for box in line] == ["34", "12", "עולם", "good", "film", "שלום"]
    assert [box.is_rtl for box in line] == [True, True, True, False, False, True]
    (line,) = lines(laid(of_text("good שלום עולם film")))
    assert [box.text for box in line] == ["good", "עולם", "שלום", "film"]
    assert line[0].x == MARGIN


def test_brackets_go_with_what_they_enclose() -> None:
    text = "שלום film (good) עולם"
    (line,) = lines(laid(of_text(text, ["שלום", "film", "(", "good", ")", "עולם"])))
    assert [box.text for box in line] == ["עולם", "film", "(", "good", ")", "שלום"]


def test_a_special_token_does_not_turn_a_text_around() -> None:
    answer = made(
        [0.0, 0.5, 0.5],
        tokens=("[CLS]", "שלום", "[SEP]"),
        texts=("שלום",),
        offsets=((0, 0), (0, 4), (0, 0)),
        segments=(None, 0, None),
        word_ids=(None, 0, None),
        is_special=(True, False, True),
    )
    assert words(laid(answer)) == [["[SEP]", "שלום", "[CLS]"]]


def test_letters_of_a_cut_arabic_word_stay_joined() -> None:
    (line,) = lines(laid(of_text("مرحبا", ["مر", "حبا"])))
    assert [box.text for box in line] == ["\u200dحبا", "مر\u200d"]
    assert line[0].hover.startswith("حبا:")


def test_columns_stand_side_by_side_and_differences_begin_a_row() -> None:
    several = [made(), made(method="rollout"), made(method="gae")]
    found = sheet(panels(several, difference=True), width=1000.0, columns=2)
    titles = [box for box in found.boxes if box.style == "title"]
    one, two, three, four, five = titles
    assert one.y == two.y < three.y < four.y == five.y
    assert one.x == three.x == four.x == MARGIN < two.x == five.x
    assert four.text.startswith("attcat − rollout")
    green = [box.text for box in found.boxes if box.fill == GREEN]
    assert green.count("more") == 2
    with pytest.raises(InvalidOption, match="9 columns do not fit into a width of 720"):
        sheet(panels(several), columns=9)
    with pytest.raises(InvalidInput, match="no attribution to show"):
        panels([])


def test_what_is_seen_as_one_character_is_one() -> None:
    assert clusters("e\u0301👨\u200d👩\u200d👧👍🏽🇩🇪🇫🇷x") == [
        "e\u0301",
        "👨\u200d👩\u200d👧",
        "👍🏽",
        "🇩🇪",
        "🇫🇷",
        "x",
    ]
    assert width_of("👨\u200d👩\u200d👧", 10) == width_of("👍🏽", 10) == 12
    assert width_of("中文", 10) == 20
    assert width_of("e\u0301", 10) == width_of("e", 10)
    assert width_of("ill", 10) < width_of("ooo", 10) < width_of("mmm", 10)


def test_controls_are_never_drawn() -> None:
    assert visible("a\x00b\u202ec\td\ufffe\ud800") == "a�b�c d��"
    assert direction("12 ש a") == "R"
    assert direction("12") == ""


def test_tokens_without_a_text_are_named() -> None:
    assert readable(["ĠRome", "Ċ", "Ã©", "."]) == ("Rome", "⏎", "é", ".")
    assert readable(["▁Rome", "▁", "##s"]) == ("Rome", "␣", "##s")
    assert readable(["Ċ", "Rome"]) == ("Ċ", "Rome")
    assert readable(["Ġa", "<s>", "Ł", "中"])[1:] == ("<s>", "�", "中")
