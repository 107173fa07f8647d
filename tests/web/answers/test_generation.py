"""Continuations, and what made their tokens."""

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

import headlight
from headlight import Model
from headlight.models.model import Task
from tests.networks import network
from tests.web.sites import Site, site


@pytest.mark.parametrize("continuation", [None, " are not very good"])
def test_a_continuation_is_explained_as_by_the_library(
    page: Site, writer: Model, continuation: str | None
) -> None:
    text = "the keys to the cabinet"
    found = page.answer(
        "generate", model="writer", text=text, tokens=4, continuation=continuation, method="gae"
    )
    expected = headlight.explain_generation(
        writer, text, "gae", continuation=continuation, max_new_tokens=4
    )
    assert len(found["prompt"]) == len(expected.prompt)
    assert len(found["output"]) == len(expected.output)
    assert "".join(found["prompt"]) == text
    assert continuation is None or "".join(found["output"]) == continuation
    np.testing.assert_allclose(found["matrix"], expected.matrix, atol=1e-6)
    assert found["largest"] == pytest.approx(np.abs(expected.matrix[:, 1:]).max())
    assert (found["method"], found["signed"]) == ("gae", False)
    assert found["in_scale"] == [False, *[True] * (len(expected.inputs) - 1)]
    assert found["special"] == [False] * len(expected.inputs)
    by_row = [np.abs(each.scores[1:]).max() for each in expected.attributions]
    assert found["largest_by_row"] == pytest.approx(by_row)
    assert found["note"] == "outside the scale (grey if beyond): the first token"


def test_a_text_is_not_continued_beyond_what_the_model_can_read(
    byte_tokenizer: PreTrainedTokenizerFast,
) -> None:
    net = network("gpt2", Task.CAUSAL, vocab_size=360)
    with site({"short": headlight.wrap(net, byte_tokenizer, name="short")}) as page:
        for text, tokens in (("a " * 60, 40), ("a " * 90, 1), ("a " * 600, 1)):
            status, sentence = page.refusal("generate", model="short", text=text, tokens=tokens)
            assert status in (400, 413), sentence
        page.answer("generate", model="short", text="a " * 35, tokens=5)
