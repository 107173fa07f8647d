"""The same answer with and without some of its sources."""

import pytest

import headlight
from headlight import Model
from headlight.answer import Answer
from tests.web.asking import ANSWER, CHAT, answering, passages
from tests.web.sites import Site


def log_probability(model: Model, sources: dict[str, str] | None) -> float:
    made = headlight.explain_answer(model, CHAT, ANSWER, "gae", sources=sources)
    assert isinstance(made, Answer)
    return made.log_probability


@pytest.mark.parametrize("left_out", [["library"], ["film"], ["library", "film"]])
def test_probabilities_are_those_of_the_library(
    asking: Site, chatter: Model, left_out: list[str]
) -> None:
    found = asking.answer("without", **answering(answer=ANSWER, without=left_out))
    kept = {name: text for name, text in passages().items() if name not in left_out}
    assert found["before"] == pytest.approx(log_probability(chatter, passages()), abs=1e-3)
    assert found["after"] == pytest.approx(log_probability(chatter, kept or None), abs=1e-3)
    for token in found["fallen"]:
        assert token["text"] in ANSWER
        assert 0 < token["after"] < token["before"] < 1


def test_only_a_source_can_be_taken_away(asking: Site) -> None:
    asked = answering(answer=ANSWER, without=["diary"])
    assert asking.refusal("without", **asked) == (
        400,
        "no source is named 'diary', so it cannot be taken away.",
    )
    assert asking.refusal("without", **answering(answer=ANSWER, without=[]))[0] == 422
