"""Token-to-token matrices."""

import numpy as np
import pytest

import headlight
from headlight import Model
from tests.web.asking import TEXT
from tests.web.sites import Site


@pytest.mark.parametrize("method", ["rollout", "alti", "norms"])
@pytest.mark.parametrize(("layer", "accumulated"), [(-1, True), (2, True), (1, False), (3, False)])
def test_mixing_is_that_of_the_library(
    page: Site, classifier: Model, method: str, layer: int, accumulated: bool
) -> None:
    found = page.answer(
        "mix", model="classifier", text=TEXT, method=method, layer=layer, accumulated=accumulated
    )
    expected = headlight.mix(classifier, TEXT, method)
    matrices = expected.accumulated if accumulated else expected.layers
    matrix = matrices[-1 if layer == -1 else layer - 1]
    np.testing.assert_allclose(found["matrix"], matrix, atol=1e-5)
    assert found["largest"] == pytest.approx(matrix[:, 1:-1].max(), rel=1e-5), (
        "without [CLS], [SEP]"
    )
    assert found["note"] == "outside the scale (grey if beyond): special tokens"
    assert found["tokens"] == list(expected.tokens)
    assert (found["layer"], found["layers"]) == (3 if layer == -1 else layer, 3)
