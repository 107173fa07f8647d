"""Every token is shown once, and words are the sums of their tokens."""

import pytest

import headlight
from headlight import Model
from tests.web.asking import QUESTIONS, near, scores
from tests.web.sites import Site


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("view", ["pieces", "words"])
def test_every_token_is_shown_once_and_the_text_is_whole(page: Site, name: str, view: str) -> None:
    found = page.answer("explain", model=name, **QUESTIONS[name], methods=["attcat"])
    (attributed,) = found["attributions"]
    shown = attributed[view]
    covered = sorted(p for each in shown for p in each["positions"])
    assert covered == list(range(len(found["tokens"])))
    for each in shown:
        total = sum(scores(attributed)[p] for p in each["positions"])
        assert each["score"] == pytest.approx(total, abs=1e-6)
        special = {attributed["data"]["is_special"][p] for p in each["positions"]}
        assert special == {each["special"]}
    for segment, text in enumerate(attributed["data"]["texts"]):
        own = [each for each in shown if each["segment"] == segment]
        assert "".join(each["before"] + each["text"] for each in own).strip() == text
    assert max(abs(e["share"]) for e in shown if e["in_scale"]) == pytest.approx(1)
    assert not any(e["in_scale"] and e["special"] for e in shown)
    assert any(e["in_scale"] != (not e["special"]) for e in shown) == (name == "writer")


def test_a_word_is_the_sum_of_its_tokens(page: Site, sentiment: Model) -> None:
    text = QUESTIONS["sentiment"]["text"]
    (found,) = page.answer("explain", model="sentiment", text=text, methods=["attcat"])[
        "attributions"
    ]
    words = headlight.explain(sentiment, text, "attcat").words()
    assert [each["text"] for each in found["words"]] == list(words.tokens)
    near([each["score"] for each in found["words"]], words.scores)
    assert len(found["words"]) < len(found["pieces"])
