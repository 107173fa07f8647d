"""Thoughts: where they are in an answer, and that scores sent through them are conserved."""

from typing import Any

import numpy as np
import pytest

import headlight
from headlight import Answer, InvalidInput, InvalidOption, Model
from headlight.explaining.thoughts import check_sends, marks_of, sent_on, thoughts_in
from headlight.methods import METHODS

TEXT = "<think>the film is dull</think> not good"


@pytest.fixture(scope="module")
def plain(writer: Model) -> Answer:
    made = headlight.explain_answer(writer, "the keys", TEXT, "input_x_gradient", of=[" not good"])
    assert isinstance(made, Answer)
    return made


def test_thoughts_end_with_their_mark() -> None:
    start, end = thoughts_in(TEXT, ("<think>", "</think>"))
    assert TEXT[start:end] == "the film is dull</think>"
    assert thoughts_in("hmm</think> no", ("<think>", "</think>")) == (0, 11)


def test_the_total_is_conserved_and_thoughts_keep_nothing(plain: Answer) -> None:
    prompt = sum(end <= plain.prompt_end for _, end in plain.offsets)
    span = (prompt + 1, prompt + 5)
    sent = np.linspace(1, 2, prompt)
    found = sent_on(plain, [sent], span)
    assert found.through_thoughts is not None
    landed = plain.scores[0, span[0] : span[1] + 1].sum(dtype=np.float64)
    assert found.scores.sum() == pytest.approx(plain.scores.sum(dtype=np.float64))
    assert found.through_thoughts.sum() == pytest.approx(landed)
    np.testing.assert_allclose(found.through_thoughts[0, :prompt], sent * landed / sent.sum())
    assert not found.scores[0, span[0] : span[1] + 1].any()


@pytest.mark.parametrize("sent", [[0.0, 0.0], [1.0, -1.0], [1.0, -0.9999]])
def test_scores_that_cancel_stay_where_they_are(plain: Answer, sent: list[float]) -> None:
    found = sent_on(plain, [np.array(sent)], (4, 6))
    np.testing.assert_allclose(found.scores, plain.scores)
    assert found.notes[-1] == "scores of thoughts of part 0 cancel and were left where they are"


def test_empty_thoughts_send_nothing(writer: Model) -> None:
    with pytest.raises(InvalidInput, match="there is nothing after the thoughts"):
        headlight.explain_answer(writer, "a", "<think>b</think>", "input_x_gradient", thoughts=True)


@pytest.mark.parametrize(
    ("given", "marks"),
    [(False, None), (None, None), (True, ("<think>", "</think>")), (["(", ")"], ("(", ")"))],
)
def test_marks(given: Any, marks: Any) -> None:
    assert marks_of(given) == marks


@pytest.mark.parametrize("given", ["<think>", ("a",), ("a", ""), (1, 2), 3])
def test_marks_that_are_none_are_refused(given: Any) -> None:
    with pytest.raises(InvalidOption, match=r"thoughts=.* is not possible\. Use True"):
        marks_of(given)


@pytest.mark.parametrize("name", ["attn_lrp", "libragrad", "gim", "input_x_gradient"])
def test_gradients_send_scores_on(name: str) -> None:
    check_sends(METHODS[name])


@pytest.mark.parametrize("name", ["rollout", "integrated_gradients"])
def test_other_methods_do_not(name: str) -> None:
    with pytest.raises(InvalidOption, match=f"by gradients, which {name} does not"):
        check_sends(METHODS[name])
