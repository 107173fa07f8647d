"""Answers, and what their tokens and sentences came from."""

from typing import Any

import numpy as np
import pytest

import headlight
from headlight import Model
from headlight.answer import Answer
from tests.web.asking import ANSWER, CHAT, answering, passages
from tests.web.sites import Site


def added(found: dict[str, Any], key: str, count: int) -> np.ndarray:
    """The scores [part, unit] that a reader adds up, for units named by a key of the tokens."""
    total = np.zeros((len(found["parts"]), count))
    for column, token in enumerate(found["tokens"]):
        if token[key] is not None:
            total[:, token[key]] += np.array(found["scores"])[:, column]
    return total


@pytest.fixture(scope="module")
def expected(chatter: Model) -> Answer:
    made = headlight.explain_answer(chatter, CHAT, ANSWER, "gae", sources=passages(), of="tokens")
    assert isinstance(made, Answer)
    return made


def test_scores_add_up_to_those_of_the_library(asking: Site, expected: Answer) -> None:
    found = asking.answer("answer", **answering(answer=ANSWER, method="gae"))
    near = {"rtol": 1e-4, "atol": 2e-6}
    np.testing.assert_allclose(found["scores"], expected.scores, **near)
    np.testing.assert_allclose(added(found, "source", 2), expected.matrix, **near)
    words = expected.words()
    np.testing.assert_allclose(added(found, "word", len(words.units)), words.matrix, **near)
    assert [each["text"] for each in found["words"]] == [unit.name for unit in words.units]
    assert [each["in_scale"] for each in found["words"]] == words.in_scale.tolist()
    assert [each["name"] for each in found["sources"]] == ["library", "film"]
    assert (found["method"], found["signed"]) == ("gae", False)


def test_sentences_are_sums_of_their_tokens(asking: Site) -> None:
    asked = answering(answer=ANSWER, method="attn_lrp")
    tokens = asking.answer("answer", **asked)
    whole = asking.answer("answer", of="sentences", **asked)
    assert [part["sentence"] for part in whole["parts"]] == [0, 1]
    assert {part["word"] for part in whole["parts"]} == {None}
    numbers = np.array([part["sentence"] for part in tokens["parts"]])
    summed = [np.array(tokens["scores"])[numbers == n].sum(0) for n in (0, 1)]
    np.testing.assert_allclose(summed, whole["scores"], rtol=1e-3, atol=1e-5)


def test_the_answer_is_put_together_from_its_words(asking: Site) -> None:
    found = asking.answer("answer", **answering(answer=ANSWER))
    said = found["said"]
    assert "".join(word["before"] + word["text"] for word in said) == ANSWER
    assert [word["sentence"] for word in said][-1] == 1
    covered = {part["word"] for part in found["parts"]} - {None}
    assert covered == set(range(len(said)))
    own = [token for token in found["tokens"] if token["is_own"]]
    assert len(own) == len(found["parts"])
    assert {(token["word"], token["source"]) for token in own} == {(None, None)}


def test_blocks_are_turns_and_labelled_sources(asking: Site) -> None:
    found = asking.answer("answer", **answering(answer=ANSWER))
    assert [(block["name"], block["source"]) for block in found["blocks"]] == [
        ("system", None),
        ("user", None),
        ("library", 0),
        ("film", 1),
        ("user", None),
    ]
    texts = [""] * len(found["blocks"])
    for word in found["words"]:
        texts[word["block"]] += word["before"] + word["text"]
    assert texts[0] == "be good"
    assert texts[2] == "[library] it was written by mary shelley in london"
    assert texts[4] == "Question: who wrote it"


def test_a_question_needs_no_chat_and_no_sources(asking: Site) -> None:
    found = asking.answer("answer", model="chatter", prompt="the keys", answer=" are good")
    assert found["sources"] == []
    assert found["blocks"] == [{"name": "", "source": None}]
    assert found["words"][0]["in_scale"] is False


def test_what_takes_too_long_is_refused(asking: Site) -> None:
    status, sentence = asking.refusal("answer", **answering(answer=" it is" * 20))
    assert (status, "explains up to 24 one by one" in sentence) == (413, True)
    short = {"model": "chatter", "prompt": "the keys", "answer": " are", "method": "lime"}
    status, sentence = asking.refusal("answer", **short)
    assert (status, "explains only sentences with it" in sentence) == (413, True)
    assert asking.answer("answer", of="sentences", **short)["method"] == "lime"
