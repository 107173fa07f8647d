"""Texts beyond the limit are explained in windows that overlap."""

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import (
    InvalidOption,
    Model,
    Target,
)
from headlight.explaining.long_texts import text_around
from headlight.models.model import Task
from tests.networks import network

TEXT = "a charming and often affecting journey"


PAIR = ("who wrote it ?", "it was written by mary shelley in london .")


def test_windows_explain_the_whole_text(classifier: Model) -> None:
    text = "good " * 100 + "bad " * 60
    answer = headlight.explain(classifier, text, "input_x_gradient", stride=10)
    assert len(answer) == 162
    assert np.count_nonzero(answer.scores) == 162
    assert answer.notes == ("explained in 3 windows that share 10 tokens",)
    short = headlight.explain(classifier, TEXT, "input_x_gradient", stride=10)
    assert short == headlight.explain(classifier, TEXT, "input_x_gradient")


def test_windows_of_a_classifier_share_one_label(classifier: Model) -> None:
    text = "good " * 100 + "bad " * 60
    own = headlight.explain(classifier, text, "input_x_gradient", stride=10).target
    assert own.label == own.predicted
    for label in ("negative", "positive"):
        answer = headlight.explain(classifier, text, "input_x_gradient", label, stride=10)
        assert answer.target.label == label
        assert answer.target.predicted == own.predicted


def test_windows_of_a_question_score_the_best_one(reader: Model) -> None:
    context = "dull " * 100 + PAIR[1]
    answer = headlight.explain(reader, (PAIR[0], context), "gradient_l2", stride=5)
    assert "only one of them is scored" in answer.notes[0]
    assert 0 < np.count_nonzero(answer.scores) <= 80
    assert answer.target.label == answer.target.predicted
    start, end = answer.target.positions  # type: ignore[misc]
    first, last = answer.offsets[start][0], answer.offsets[end][1]  # type: ignore[index]
    assert context[first:last] == answer.target.label


def test_windows_of_a_given_answer_hold_it(reader: Model) -> None:
    context = "dull " * 100 + PAIR[1]
    by_text = headlight.explain(reader, (PAIR[0], context), "attcat", "mary shelley", stride=20)
    assert [by_text.tokens[p] for p in by_text.target.positions] == ["mary", "shelley"]  # type: ignore[union-attr]
    span = Target(span=by_text.target.positions)  # type: ignore[arg-type]
    by_span = headlight.explain(reader, (PAIR[0], context), "attcat", span, stride=20)
    np.testing.assert_array_equal(by_span.scores, by_text.scores)
    with pytest.raises(InvalidOption, match="does not fit into one window"):
        headlight.explain(reader, (PAIR[0], context), target=Target(span=(8, 105)), stride=20)


def test_windows_are_for_pooled_heads_and_questions(writer: Model) -> None:
    with pytest.raises(InvalidOption, match="stride= is for"):
        headlight.explain(writer, "the keys", stride=3)


def test_an_answer_is_explained_where_most_text_is_around_it() -> None:
    question, end = [0, 1, 2], [30]
    places = [[*question, *range(start, start + 12), *end] for start in (3, 9, 15)]
    around = [text_around(places, window, (16, 17)) for window in (1, 2)]
    assert around == [3, 1]
    assert text_around(places, 0, (5, 5)) == 2


def test_the_first_token_of_every_window_of_a_decoder_is_a_sink(
    byte_tokenizer: PreTrainedTokenizerFast,
) -> None:
    net = network("gpt2", Task.SEQUENCE, vocab_size=360)
    answer = headlight.explain(
        headlight.wrap(net, byte_tokenizer), "good bad " * 60, "input_x_gradient", stride=10
    )
    assert len(answer) > 80
    assert np.flatnonzero(answer.is_sink).tolist() == list(range(0, len(answer) - 10, 70))
    assert sum(" of all scores" in note for note in answer.notes) <= 1, "not one for each window"
