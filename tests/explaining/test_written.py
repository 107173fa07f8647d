"""A prompt and its answer as one row, and the tokens of each part of the answer."""

from typing import Any

import pytest

import headlight
from headlight import HeadlightError, Model
from headlight.explaining.continuation import Writing
from headlight.explaining.prompts import prompts_of
from headlight.explaining.written import Written, check_of, ranges_of, written
from headlight.models.model import Task
from tests.explaining.test_continuation import unigram, word_piece
from tests.networks import network


def made(model: Model, answer: str, prompt: str = "the keys") -> Written:
    (asked,), _ = prompts_of(model, prompt)
    return written(model, asked, answer, Writing())


def said(text: Written, ranges: list[tuple[int, int]]) -> list[str]:
    return [text.text[slice(*text.span_of(span))] for span in ranges]


@pytest.mark.parametrize("of", ["answer", "sentences", "words", "tokens"])
def test_parts_by_name_hold_every_token_once(writer: Model, of: str) -> None:
    text = made(writer, " are good.\n\n It is  dull! ")
    ranges = ranges_of(text, of)
    tokens = [place for first, last in ranges for place in range(first, last + 1)]
    assert tokens == list(range(text.first, len(text.row)))
    assert "".join(said(text, ranges)) == text.answer


def test_what_comes_before_the_beginning_is_left_out(writer: Model) -> None:
    text = made(writer, " are good. It is dull!")
    assert "".join(said(text, ranges_of(text, "tokens", 10))) == " It is dull!"
    assert said(text, ranges_of(text, "answer", 10)) == [" It is dull!"]


def test_a_part_within_a_token_is_refused(writer: Model) -> None:
    text = made(writer, " are good")
    longest = max(text.offsets[text.first :], key=lambda span: span[1] - span[0])
    inner = longest[1] - 1 - text.prompt_end
    with pytest.raises(HeadlightError, match="which is a part of a longer token"):
        ranges_of(text, [(inner, inner + 1)])


def test_a_tokenizer_that_adds_a_space_gets_a_note() -> None:
    tokenizer = unigram()
    model = headlight.wrap(
        network("llama", Task.CAUSAL, vocab_size=len(tokenizer)), tokenizer, name="speaker"
    )
    text = made(model, "end", "one line")
    assert text.answer == "end"
    assert "the model reads the answer as ' end'" in text.row.notes


def test_an_answer_is_kept_letter_by_letter_though_its_tokenizer_changes_it() -> None:
    tokenizer = word_piece()
    model = headlight.wrap(
        network("llama", Task.CAUSAL, vocab_size=len(tokenizer)), tokenizer, name="speaker"
    )
    text = made(model, " One  LINE", "another")
    assert text.answer == " One  LINE"
    assert "the model reads the answer as ' one line'" in text.row.notes
    assert said(text, ranges_of(text, "words")) == ["One", "LINE"]


@pytest.mark.parametrize("of", ["answer", "tokens", ["a"], ((0, 1),)])
def test_parts_that_can_be_asked_for(of: Any) -> None:
    check_of(of)


@pytest.mark.parametrize("of", ["Answer", "", [], 3, None, {"a"}])
def test_parts_that_cannot_be_asked_for(of: Any) -> None:
    with pytest.raises(HeadlightError, match="of="):
        check_of(of)


def test_a_model_that_ends_at_once_has_no_answer(writer: Model) -> None:
    (asked,), _ = prompts_of(writer, "the keys")
    ending = Writing.of(1, {"forced_eos_token_id": 2})
    with pytest.raises(HeadlightError, match="the model ends its text at once"):
        written(writer, asked, None, ending)
