"""Deletion curves of one text."""

import numpy as np
import pytest

import headlight
from headlight import Example, Model
from headlight.metrics.trust import SENTENCES
from tests.known import known
from tests.web.answers.test_hiding import probability
from tests.web.asking import LONG, QUESTIONS, TEXT
from tests.web.sites import Site


def test_curves_go_from_the_whole_text_to_nothing(page: Site, classifier: Model) -> None:
    methods = ["attcat", "rollout"]
    found = page.answer("curves", model="classifier", text=LONG, methods=methods)
    ids = known(classifier.tokenizer)(LONG)["input_ids"]
    whole = probability(classifier, ids, found["label"])
    nothing = probability(classifier, [ids[0], ids[-1]], found["label"])
    assert found["levels"] == [n / 10 for n in range(11)]
    assert [curve["method"] for curve in found["curves"]] == methods
    for curve in (*found["curves"], found["random"]):
        assert len(curve["probabilities"]) == 11
        assert curve["probabilities"][0] == pytest.approx(whole, abs=1e-5)
        assert curve["probabilities"][-1] == pytest.approx(nothing, abs=1e-5)
        fall = curve["probabilities"][0] - np.array(curve["probabilities"][1:])
        assert curve["aopc"] == pytest.approx(fall.mean(), abs=1e-6)
    random = found["random"]
    assert all(np.array(random["low"]) <= np.array(random["high"]) + 1e-9)
    for curve in found["curves"]:
        trust = curve["trust"]
        assert trust["sentence"] == SENTENCES[trust["level"]]
        assert trust["mean"] == pytest.approx(np.mean(curve["probabilities"][1:-1]))
        assert trust["random_mean"] == pytest.approx(np.mean(random["probabilities"][1:-1]))
    measured = headlight.evaluate(classifier, [Example(LONG)], methods, ["aopc"], threads=1)
    for curve in found["curves"]:
        expected = measured.values("aopc", curve["method"])[0]
        assert curve["aopc"] == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("name", ["classifier", "reader", "filler", "tagger", "writer"])
def test_curves_begin_at_the_probability_of_every_task(page: Site, name: str) -> None:
    asked = {"model": name, **QUESTIONS[name], "methods": ["attcat"]}
    found = page.answer("curves", **asked)
    said = page.answer("explain", **asked)["prediction"]
    assert found["label"] == said["explained"]
    assert found["curves"][0]["probabilities"][0] == pytest.approx(said["probability"], abs=1e-5)


def test_curves_know_other_changes_and_methods_that_fail(page: Site) -> None:
    asked = {"model": "classifier", "text": TEXT}
    masked = page.answer("curves", **asked, methods=["attcat", "mask_lrp"], change="mask")
    deleted = page.answer("curves", **asked, methods=["attcat"])
    assert page.answer("curves", **asked, methods=["attcat"]) == deleted
    assert masked["curves"][0]["probabilities"][1:] != deleted["curves"][0]["probabilities"][1:]
    assert list(masked["failures"]) == ["mask_lrp"]
