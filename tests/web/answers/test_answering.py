"""Answers, and what their words and sentences came from."""

from typing import Any

import numpy as np
import pytest

import headlight
from headlight import Model
from headlight.answer import Answer
from tests.web.asking import ANSWER, CHAT, answering, near, passages
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
    made = headlight.explain_answer(chatter, CHAT, ANSWER, "gae", sources=passages(), of="words")
    assert isinstance(made, Answer)
    return made


def test_scores_add_up_to_those_of_the_library(asking: Site, expected: Answer) -> None:
    found = asking.answer("answer", **answering(answer=ANSWER, method="gae", of="words"))
    near(found["scores"], expected.scores)
    near(added(found, "source", 2), expected.matrix)
    words = expected.words()
    near(added(found, "word", len(words.units)), words.matrix)
    assert [each["text"] for each in found["words"]] == [unit.name for unit in words.units]
    assert [each["in_scale"] for each in found["words"]] == words.in_scale.tolist()
    assert [each["name"] for each in found["sources"]] == ["library", "film"]
    assert (found["method"], found["signed"]) == ("gae", False)


def test_sentences_are_sums_of_their_words(asking: Site) -> None:
    asked = answering(answer=ANSWER, method="attn_lrp")
    words = asking.answer("answer", of="words", **asked)
    whole = asking.answer("answer", **asked)
    assert [part["sentence"] for part in whole["parts"]] == [0, 1]
    assert {part["word"] for part in whole["parts"]} == {None}
    numbers = np.array([part["sentence"] for part in words["parts"]])
    summed = [np.array(words["scores"])[numbers == n].sum(0) for n in (0, 1)]
    np.testing.assert_allclose(summed, whole["scores"], rtol=1e-3, atol=1e-5)


def test_words_can_be_asked_for_in_turn(asking: Site, expected: Answer) -> None:
    asked = answering(answer=ANSWER, method="gae", of="words")
    first = asking.answer("answer", count=4, **asked)
    rest = asking.answer("answer", first=4, **asked)
    assert [part["word"] for part in first["parts"]] == [0, 1, 2, 3]
    joined = [*first["scores"], *rest["scores"]]
    near(joined, expected.scores)
    status, sentence = asking.refusal("answer", first=40, **asked)
    assert (status, "asks for no part of the answer" in sentence) == (400, True)


def test_the_answer_is_put_together_from_its_words(asking: Site) -> None:
    found = asking.answer("answer", of="words", **answering(answer=ANSWER))
    said = found["said"]
    assert "".join(word["before"] + word["text"] for word in said) == ANSWER
    assert [word["sentence"] for word in said][-1] == 1
    covered = {part["word"] for part in found["parts"]} - {None}
    assert covered == set(range(len(said)))
    own = [token for token in found["tokens"] if token["is_own"]]
    assert len(own) >= len(found["parts"])
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
    status, sentence = asking.refusal("answer", of="words", **answering(answer=" it is" * 10))
    assert (status, "explains up to 12 at once" in sentence) == (413, True)
    short = {"model": "chatter", "prompt": "the keys", "answer": " are", "method": "lime"}
    status, sentence = asking.refusal("answer", of="words", **short)
    assert (status, "explains only sentences with it" in sentence) == (413, True)
    assert asking.answer("answer", **short)["method"] == "lime"
