"""Marks and answers are found among the tokens that share a character with them."""

from headlight import Batch, Example, Model
from headlight.batch import encode
from headlight.data.spans import answers_in, covered, marks_in
from tests.known import known


def test_marks_cover_every_token_that_shares_a_character(classifier: Model) -> None:
    (row,) = encode(["a charming journey"], known(classifier.tokenizer))
    marked = marks_in(row, Example("a charming journey", marks=((0, 4, 13),)))
    assert marked is not None
    tokens = [token for token, mark in zip(row.tokens, marked, strict=True) if mark]
    assert tokens == ["charming", "journey"]
    assert marks_in(row, Example("a charming journey")) is None


def test_answers_are_looked_for_in_the_context_only(reader: Model) -> None:
    (row,) = encode([("the film", "the film is a charming journey")], known(reader.tokenizer))
    (film, journey) = answers_in(row, ["film", "not there", "", "charming journey"])
    assert [row.tokens[p] for p in film] == ["film"]
    assert [row.segments[p] for p in film if row.segments] == [1]
    assert [row.tokens[p] for p in journey] == ["charming", "journey"]


def test_rows_of_bare_ids_have_no_places(classifier: Model) -> None:
    (row,) = Batch.from_ids([[1, 2, 3]]).rows
    assert covered(row, 0, 0, 5) == []
