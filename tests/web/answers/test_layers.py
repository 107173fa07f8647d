"""Methods layer by layer."""

from typing import Any

import numpy as np
import pytest

import headlight
from headlight import Model
from headlight.explaining.layers import has_layers
from headlight.methods import METHODS
from tests.web.asking import QUESTIONS, TEXT, near
from tests.web.sites import Site


def scores_by_token(view: dict[str, Any]) -> list[float]:
    return [each["score"] for each in view["pieces"]]


@pytest.mark.parametrize("method", [name for name in METHODS if has_layers(METHODS[name])])
def test_layers_are_those_of_the_library(page: Site, sentiment: Model, method: str) -> None:
    found = page.answer("layers", model="sentiment", text=TEXT, method=method)
    expected = headlight.explain_layers(sentiment, TEXT, method)
    assert found["method"] == method
    assert [each["layer"] for each in found["layers"]] == [a.options["layer"] for a in expected]
    for each, other in zip(found["layers"], expected, strict=True):
        near(scores_by_token(each), other.scores)
    near(scores_by_token(found["whole"]), headlight.explain(sentiment, TEXT, method).scores)


def test_the_layers_of_attcat_sum_to_it(page: Site) -> None:
    found = page.answer("layers", model="sentiment", text=TEXT, target="negative")
    assert found["method"] == "attcat"
    total = np.sum([scores_by_token(each) for each in found["layers"]], axis=0)
    near(total, scores_by_token(found["whole"]))


@pytest.mark.parametrize("view", ["pieces", "words"])
def test_layers_share_one_scale(page: Site, view: str) -> None:
    found = page.answer("layers", model="sentiment", **QUESTIONS["sentiment"])
    shown = [each for layer in found["layers"] for each in layer[view] if not each["special"]]
    largest = max(abs(each["score"]) for each in shown)
    assert max(abs(each["share"]) for each in shown) == pytest.approx(1)
    for each in shown:
        assert each["share"] == pytest.approx(each["score"] / largest, abs=1e-4)
