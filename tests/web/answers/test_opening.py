"""The choice of a word of an answer as a question of its own: the same tokens, or no offer."""

from dataclasses import replace

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import Model
from headlight.explaining.continuation import Writing
from headlight.explaining.inputs import rows_of
from headlight.explaining.prompts import prompts_of
from headlight.explaining.written import Written, written
from headlight.models.model import Task
from headlight.units import words
from headlight.web.answers.opening import choices, is_named
from headlight.web.limits import Limits
from tests.networks import network

PROMPT, ANSWER = "the 😀 keys of mary", " are good, not dull"


@pytest.fixture(scope="module")
def exact(byte_tokenizer: PreTrainedTokenizerFast) -> Model:
    """A language model in 64 bits."""
    net = network("llama", Task.CAUSAL, vocab_size=360)
    return headlight.wrap(net.double(), byte_tokenizer, name="tiny")


@pytest.fixture(scope="module")
def made(exact: Model) -> Written:
    (prompt,), _ = prompts_of(exact, PROMPT, None)
    return written(exact, prompt, ANSWER, Writing())


def test_an_offered_choice_has_the_scores_of_the_word_in_the_answer(
    exact: Model, made: Written
) -> None:
    offered = choices(exact, made, Limits())
    assert len(offered) == len(list(words(ANSWER)))
    each = headlight.explain_answer(exact, PROMPT, ANSWER, "input_x_gradient", of="tokens")
    shown = [choice for choice in offered if choice is not None]
    assert shown
    for choice in shown:
        before = made.text[: choice["end"]]
        (row,) = rows_of(exact, before)
        alone = headlight.explain(exact, before, "input_x_gradient", choice["target"])
        own = each.scores[len(row) - made.first]
        np.testing.assert_allclose(own[: len(row)], alone.scores, atol=1e-6)


def test_what_would_be_read_otherwise_is_not_offered(exact: Model, made: Written) -> None:
    other = replace(made, row=replace(made.row, ids=(5, *made.row.ids[1:])))
    assert set(choices(exact, other, Limits())) == {None}
    assert set(choices(exact, made, Limits(tokens=3))) == {None}
    assert not is_named(exact, "", 5)
    assert not is_named(exact, "no token of it", 5)
