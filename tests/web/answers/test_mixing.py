"""Token-to-token matrices."""

import numpy as np
import pytest

import headlight
from headlight import Model
from tests.web.asking import TEXT
from tests.web.sites import Site


@pytest.mark.parametrize("method", ["rollout", "alti", "norms"])
@pytest.mark.parametrize(("layer", "accumulated"), [(-1, True), (2, True), (0, False), (2, False)])
def test_mixing_is_that_of_the_library(
    page: Site, classifier: Model, method: str, layer: int, accumulated: bool
) -> None:
    found = page.answer(
        "mix", model="classifier", text=TEXT, method=method, layer=layer, accumulated=accumulated
    )
    expected = headlight.mix(classifier, TEXT, method)
    np.testing.assert_allclose(
        found["matrix"], expected.at(layer, accumulated=accumulated), atol=1e-5
    )
    assert found["tokens"] == list(expected.tokens)
    assert (found["layer"], found["layers"]) == (layer % 3, 3)
