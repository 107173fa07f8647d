"""What every face of an answer shows: citations, units in colour, rows, and a matrix."""

from dataclasses import replace

import numpy as np
import pytest

from headlight.renderers.answers.contents import (
    LISTED,
    citations,
    coloured_prompt,
    facts,
    headline,
    is_listed,
    label,
    left_out_words,
    matrix_cells,
    rows_of,
    scale_words,
    shortened,
    stretches,
)
from tests.renderers.answers.made import (
    PROMPT,
    WRITTEN,
    answered,
    long_answer,
    many_sources,
    without_sources,
)


def test_the_headline_gives_the_probability_of_all_and_per_token() -> None:
    assert headline(answered()) == "attn_lrp · probability 0.125, 0.5 per token · toy"
    assert headline(long_answer()) == "attn_lrp · probability 0.368 · toy"


def test_sentences_are_cited_with_the_sources_that_carry_them() -> None:
    (first, second) = citations(answered())
    assert [(c.number, c.share, c.strength) for c in first[1]] == [(0, 1.0, 0.75)]
    assert [(c.source, c.share) for c in second[1]] == [("b.md", 1.0)]
    assert citations(without_sources()) == []


def test_small_shares_are_not_cited() -> None:
    scores = np.array(answered().scores)
    scores[0, 5] = 3.0
    (first, _) = citations(answered(scores=scores))
    assert [c.number for c in first[1]] == [0, 1]
    scores[0, 5] = 0.5
    (first, _) = citations(answered(scores=scores))
    assert [c.number for c in first[1]] == [0]


def test_the_answer_is_cut_into_its_parts_and_nothing_is_lost() -> None:
    found = stretches(answered())
    assert [(each.text, each.part) for each in found] == [("Nora does.", 0), ("Yes!", 1)]
    assert [[c.number for c in each.cited] for each in found] == [[0], [1]]
    assert "".join(each.before + each.text for each in found) == WRITTEN


def test_what_is_not_explained_is_in_no_part() -> None:
    answer = answered()
    some = replace(answer, parts=answer.parts[1:], scores=answer.scores[1:])
    assert [(each.text, each.part) for each in stretches(some)] == [
        ("Nora does.", None),
        ("Yes!", 0),
    ]


def test_an_answer_that_was_explained_as_a_whole_is_cited_as_a_whole() -> None:
    found = stretches(answered().per("answer"))
    assert [(each.text, [c.number for c in each.cited]) for each in found] == [
        ("Nora does. Yes!", [0, 1])
    ]


def test_two_tokens_of_one_character_are_one_stretch() -> None:
    answer = answered()
    twice = replace(answer, parts=(answer.parts[1],) * 2)
    assert [each.part for each in stretches(twice)] == [None, 0]


def test_units_are_coloured_and_the_rest_of_the_prompt_stays() -> None:
    shown = coloured_prompt(answered())
    assert "".join(piece.before + piece.text for piece in shown.pieces) == PROMPT
    assert [(p.text, p.score, p.is_special) for p in shown.pieces] == [
        ("[a.txt]", 0.5, True),
        ("Nora owns it.", 6.0, False),
        ("[b.md]", 0.5, True),
        ("It rains <b>.", 1.5, False),
        ("Who?", 0.5, True),
    ]
    assert [p.share for p in shown.pieces if not p.is_special] == [1.0, 0.25]


def test_each_part_has_a_scale_of_its_own() -> None:
    shown = coloured_prompt(answered(), 1)
    assert [p.share for p in shown.pieces if not p.is_special] == [0.0, 1.0]


def test_the_unit_of_a_sink_is_outside_the_scale() -> None:
    sink = (False, True, *[False] * 10)
    shown = coloured_prompt(answered(is_sink=sink))
    assert [p.share for p in shown.pieces if not p.is_special] == [4.0, 1.0]
    assert scale_words(answered(is_sink=sink)) == "scale: largest source but the first"
    assert matrix_cells(answered(is_sink=sink)).largest == 2.0


def test_rows_name_sources_and_say_how_they_are_cited() -> None:
    found = rows_of(answered())
    assert [label(row, 40) for row in found.rows] == ["[1] a.txt", "[2] b.md"]
    assert facts(found.rows[0], found) == [("share", "80 %"), ("strength", "60 %")]
    assert (found.left_out, found.rest, left_out_words(found)) == (0, 2.5, "")


def test_a_source_that_speaks_against_the_answer_is_listed_without_a_share() -> None:
    found = rows_of(answered(scores=-answered().scores))
    assert facts(found.rows[0], found) == [("share", ""), ("strength", "")]


def test_of_many_words_the_largest_are_listed_where_they_are() -> None:
    found = rows_of(long_answer())
    assert is_listed(long_answer())
    assert not is_listed(answered("words"))
    assert (len(found.rows), left_out_words(found)) == (LISTED, "… and 980 smaller words")
    row = found.rows[-1]
    assert (label(row, 40), row.number, row.piece.score) == ("w900", 901, -1.0)
    assert row.before.endswith("w899 ")
    assert row.after.startswith(" w901")


def test_what_came_by_way_of_thoughts_is_shown_apart() -> None:
    found = rows_of(answered(through_thoughts=answered().scores / 2))
    assert facts(found.rows[0], found)[-1] == ("by thoughts", "+3")


def test_tokens_are_named_as_people_read_them() -> None:
    shown = coloured_prompt(answered("tokens"))
    assert not {"Ġ", "Ċ"} & set("".join(piece.text for piece in shown.pieces))
    assert matrix_cells(answered("tokens")).columns[:3] == ("[a.txt]", "Nora", "owns")


def test_the_matrix_has_parts_and_units() -> None:
    cells = matrix_cells(answered())
    assert cells.rows == ("Nora does.", "Yes!")
    assert cells.columns == ("a.txt", "b.md")
    assert cells.values.tolist() == [[6.0, -0.5], [0.0, 2.0]]
    assert (cells.largest, cells.note) == (6.0, "")


@pytest.mark.parametrize(
    ("text", "short"), [("a\n b", "a b"), ("abcdef", "abcd…"), ("abcde", "abcde")]
)
def test_long_texts_are_cut_in_one_line(text: str, short: str) -> None:
    assert shortened(text, 5) == short


def test_a_cited_source_is_listed_however_small_its_whole_score() -> None:
    many = many_sources(LISTED + 5)
    found = rows_of(many)
    assert len(found.rows) == LISTED + 1
    assert found.rows[0].number == 1
    assert found.rows[0].piece.score == 0.0
