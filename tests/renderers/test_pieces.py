"""Pieces of a text with their scores, on one scale."""

from dataclasses import replace

import pytest

from headlight.renderers.pieces import headline, pieces, scale_words, scaled, token_pieces
from tests.test_attribution import made


def test_pieces_follow_the_text_and_leave_specials_out_of_the_scale() -> None:
    found = pieces(made())
    assert "".join(p.before + p.text for p in found) == "[CLS] film, unbelievable film [SEP]"
    assert max(abs(p.share) for p in found if not p.is_special) == 1
    assert found[0].share == pytest.approx(1.8)


def test_tokens_that_share_a_character_are_one_piece() -> None:
    answer = made(
        [0.1, 0.2, 0.3, 0.4],
        tokens=("good", "ð", "Ł", "film"),
        texts=("good🎬film",),
        offsets=((0, 4), (4, 5), (4, 5), (5, 9)),
        segments=(0, 0, 0, 0),
        word_ids=(0, 1, 1, 2),
        is_special=(False,) * 4,
    )
    assert [(p.text, round(p.score, 3)) for p in pieces(answer)] == [
        ("good", 0.1),
        ("🎬", 0.5),
        ("film", 0.4),
    ]


def test_a_piece_that_covers_a_sink_is_one() -> None:
    emoji = made(
        [9.0, 0.2, 0.4],
        tokens=("ð", "Ł", "film"),
        texts=("🎬film",),
        offsets=((0, 1), (0, 1), (1, 5)),
        segments=(0, 0, 0),
        word_ids=(0, 0, 1),
        is_special=(False,) * 3,
        is_sink=(True, False, False),
    )
    first, film = pieces(emoji)
    assert (first.is_sink, film.share) == (True, 1.0)
    assert first.share == pytest.approx(23)


@pytest.mark.parametrize(
    ("sinks", "words"),
    [
        ((), "scale: largest ordinary token"),
        ((1,), "scale: largest ordinary token but the first"),
        ((1, 4), "scale: largest ordinary token but the first of each window"),
        ((0,), "scale: largest ordinary token"),
    ],
)
def test_the_scale_is_said(sinks: tuple[int, ...], words: str) -> None:
    assert scale_words(made(is_sink=tuple(place in sinks for place in range(8)))) == words


def test_headline_tells_what_was_explained() -> None:
    assert headline(made()) == "attcat · positive (logit 1.5, probability 0.8) · toy"


def test_pieces_of_several_maps_share_a_scale() -> None:
    one, other = pieces(made()), pieces(made())
    doubled = [replace(piece, score=2 * piece.score) for piece in other]
    together = scaled([*one, *doubled])
    assert [piece.share for piece in together[: len(one)]] == [piece.share / 2 for piece in one]
    assert [piece.share for piece in together[len(one) :]] == [piece.share for piece in other]
    assert scaled([]) == []


def test_tokens_without_their_text_are_pieces_too() -> None:
    shown = token_pieces(
        ["[CLS]", "un", "##loved", "film"], [9.0, -1.0, 0.5, 2.0], [True, *[False] * 3], [False] * 4
    )
    assert [(p.before, p.text, p.share, p.segment) for p in shown] == [
        ("", "[CLS]", 4.5, None),
        (" ", "un", -0.5, 0),
        ("", "loved", 0.25, 0),
        (" ", "film", 1.0, 0),
    ]
    (alone,) = token_pieces(["[SEP]"], [3.0], [True], [False])
    assert alone.share == 1.0
