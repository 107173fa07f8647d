"""Where foreign names stand in a text, and the rule by which their scores go to tokens."""

from fractions import Fraction

import numpy as np
import pytest

from headlight import InvalidInput
from headlight.foreign.alignment import Place, folded, located, spread

NONE: frozenset[str] = frozenset()
CLS = frozenset({"[CLS]", "[SEP]"})


def spans(found: list[Place | None]) -> list[tuple[int, int] | None]:
    return [None if place is None else (place.start, place.end) for place in found]


@pytest.mark.parametrize(
    ("names", "text", "expected"),
    [
        (["It", "is", "good"], "It is  good", [(0, 2), (3, 5), (7, 11)]),
        (["it ", "is ", "good"], "it is good", [(0, 3), (3, 6), (6, 10)]),
        (["un", "##help", "##ful", "."], "Unhelpful.", [(0, 2), (2, 6), (6, 9), (9, 10)]),
        (["It", "Ġis", "Ġgood"], "It is good", [(0, 2), (2, 5), (5, 10)]),
        (["▁It", "▁is"], "It is", [(0, 2), (3, 5)]),
        (["cafe", "creme"], "Café crème", [(0, 4), (5, 10)]),
        (["", "it ", "is", ""], "it is", [None, (0, 3), (3, 5), None]),
        (["ﬁ", "ne"], "fine", [(0, 2), (2, 4)]),
        (["a", "\n", "b"], "a\nb", [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_names_are_found_whatever_the_tokenizer_wrote(
    names: list[str], text: str, expected: list[tuple[int, int] | None]
) -> None:
    assert spans(located(names, (text,), NONE, "token")) == expected


def test_special_tokens_have_no_place_unless_the_text_says_them() -> None:
    names = ["[CLS]", "say", "[SEP]", "[SEP]"]
    assert spans(located(names, ("say [SEP]",), CLS, "token")) == [None, (0, 3), (4, 9), None]


def test_pairs_are_walked_through_one_after_the_other() -> None:
    found = located(["[CLS]", "who", "[SEP]", "me", "[SEP]"], ("Who", "Me"), CLS, "token")
    assert found == [None, Place(0, 0, 3), None, Place(1, 0, 2), None]


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (
            ["It", "was", "good"],
            "word 1, 'was', is not what stands in the text at character 3: 'is good'. Give the words of this "
            "text, all and in order, or the characters of each: spans=[(start, end), …].",
        ),
        (["It", "is", "good", "so"], "word 3, 'so', comes after the end of the text. Give"),
        (["[UNK]", "is"], "word 0, '[UNK]', is not what stands in the text at character 0"),
    ],
)
def test_names_that_do_not_follow_the_text_are_refused(names: list[str], sentence: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        located(names, ("It is good",), NONE, "word")
    assert str(raised.value).startswith(sentence)


def test_a_name_may_not_reach_from_one_text_into_the_other() -> None:
    with pytest.raises(InvalidInput, match="word 0, 'ab', is not what stands"):
        located(["ab"], ("a", "b"), NONE, "word")


def test_letters_know_their_places() -> None:
    assert folded("Straße ñ") == [
        ("s", 0), ("t", 1), ("r", 2), ("a", 3), ("s", 4), ("s", 4), ("e", 5), ("n", 7),
    ]  # fmt: skip


# ------------------------------------------------------------------------------------- the rule


def spread_slowly(
    pieces: list[tuple[int, int]], scores: list[int], tokens: list[tuple[int, int]], text: str
) -> list[float]:
    """Every character that is not white space carries an equal part of its piece's score to its token."""
    found = [Fraction(0)] * len(tokens)
    for (start, end), score in zip(pieces, scores, strict=True):
        carriers = [
            (character, token)
            for character in range(start, end)
            for token, (first, last) in enumerate(tokens)
            if text[character] != " " and first <= character < last
        ]
        for _, token in carriers:
            found[token] += Fraction(score, len(carriers))
    return [float(value) for value in found]


@pytest.mark.parametrize(
    "pieces",
    [
        [(0, 2), (3, 12), (13, 17)],
        [(0, 12), (12, 17)],
        [(n, n + 1) for n in range(17) if n not in (2, 12)],
        [(0, 4), (4, 9), (9, 17)],
    ],
)
def test_scores_are_spread_over_characters(pieces: list[tuple[int, int]]) -> None:
    text, tokens = "an unhelpful film", [(0, 2), (3, 5), (5, 9), (9, 12), (13, 17)]
    scores = [3 * n - 4 for n in range(len(pieces))]
    places = [Place(0, *span) for span in pieces]
    found = spread(places, scores, [None, *(Place(0, *span) for span in tokens)], (text,))
    assert found[0] == 0
    np.testing.assert_allclose(found[1:], spread_slowly(pieces, scores, tokens, text), atol=1e-12)
    assert found.sum() == pytest.approx(sum(scores))


def test_the_same_pieces_keep_their_scores_to_the_last_bit() -> None:
    places = [Place(0, 0, 3), Place(0, 4, 11)]
    scores = [0.1, 1 / 3]
    assert spread(places, scores, [*places, None], ("the journey",)).tolist() == [*scores, 0.0]


def test_tokens_that_share_a_character_share_its_score() -> None:
    token = Place(0, 0, 1)
    assert spread([token], [3.0], [token, token, token], ("😀",)).tolist() == [1.0, 1.0, 1.0]


def test_a_score_that_no_token_can_have_is_refused() -> None:
    places = [Place(0, 0, 1), Place(0, 1, 2)]
    assert spread(places, [1.0, 0.0], places[:1], ("a b",)).tolist() == [1.0]
    with pytest.raises(InvalidInput) as raised:
        spread(places, [1.0, 2.0], places[:1], ("a b",))
    assert str(raised.value) == (
        "the score 2 of ' ' (characters 1 to 2) is on no token that the model reads: it is white space, or "
        "behind the longest input of the model. Leave it out, or set its score to 0."
    )
