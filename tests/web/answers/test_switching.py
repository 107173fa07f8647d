"""Heads that are off move the answer as the library says."""

import pytest

from headlight import HeadMask, Model, ablate
from tests.web.asking import QUESTIONS, TEXT
from tests.web.sites import Site, refused


def test_the_answer_moves_as_the_library_says(page: Site, sentiment: Model) -> None:
    off = [(1, 2), (6, 6)]
    found = page.answer("heads/off", model="sentiment", text=TEXT, off=off)
    (row,) = ablate(sentiment, TEXT, off)
    assert (found["label"], found["unit"]) == (row.before.label, "probability")
    assert found["before"] == pytest.approx(row.before.probability, abs=1e-6)
    assert found["after"] == pytest.approx(row.after.probability, abs=1e-6)
    assert found["before"] != found["after"]
    assert found["predicted_before"] == row.before.predicted
    assert found["predicted_after"] == row.after.predicted
    assert (found["off"], found["heads"]) == (2, 72)


@pytest.mark.parametrize("name", QUESTIONS)
def test_heads_are_switched_off_for_every_task(page: Site, name: str) -> None:
    asked = {"model": name, **QUESTIONS[name]}
    nothing = page.answer("heads/off", **asked, off=[])
    assert nothing["before"] == nothing["after"]
    assert nothing["predicted_before"] == nothing["predicted_after"]
    assert nothing["off"] == 0
    found = page.answer("heads/off", **asked, off=[[1, 1], [2, 1], [3, 1]])
    assert found["before"] == pytest.approx(nothing["before"], abs=1e-6)
    assert found["unit"] == ("value" if name == "rater" else "probability")
    assert found["after"] != found["before"]


def test_another_label_is_watched(page: Site, sentiment: Model) -> None:
    off = HeadMask.full(6, 12).heads.nonzero().add(1).tolist()
    asked = {"model": "sentiment", "text": TEXT, "off": off}
    one, other = (
        page.answer("heads/off", **asked, target=label) for label in ("positive", "negative")
    )
    assert one["after"] + other["after"] == pytest.approx(1, abs=1e-5)


def test_heads_that_do_not_exist_are_refused(page: Site) -> None:
    asked = {"model": "sentiment", "text": TEXT}
    status, said = refused(page.post("heads/off", **asked, off=[[7, 1]]))[:2]
    assert status == 400
    assert "head 1 of layer 7 does not exist" in said
    assert refused(page.post("heads/off", **asked, off=[[1]]))[0] == 422
    assert refused(page.post("heads/off", **asked))[0] == 422
