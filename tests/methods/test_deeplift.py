"""DeepLIFT of a model and its baselines."""

import numpy as np
import pytest
import torch

import headlight
from headlight import Batch, UnsupportedModel
from headlight.models.model import Task
from tests.networks import model, network, rows


def test_methods_say_what_they_add_up_to() -> None:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids(rows()[0])
    found = headlight.explain(wrapped, batch, ["deeplift", "deeplift_shap"], baseline="pad")
    zero = headlight.explain(wrapped, batch, "deeplift", baseline="zero")
    np.testing.assert_allclose(
        found["deeplift_shap"].scores, (found["deeplift"].scores + zero.scores) / 2
    )


def test_half_precision_is_near_the_64_bit_scores() -> None:
    batch = Batch.from_ids(rows()[0])
    found = [
        headlight.explain(model("bert", Task.SEQUENCE, dtype), batch, "deeplift", target=1).scores
        for dtype in (torch.float64, torch.float16)
    ]
    assert np.abs(found[1] - found[0]).max() < 0.02 * np.abs(found[0]).max()


def test_a_network_of_single_rows_is_refused_with_a_way_out() -> None:
    wrapped = headlight.wrap(network("gpt2", Task.SEQUENCE, pad_token_id=None))
    with pytest.raises(UnsupportedModel, match=r"pad token. Set network.config.pad_token_id"):
        headlight.explain(wrapped, Batch.from_ids(rows()[0]), "deeplift")


def test_the_embedded_classifier_is_explained_on_a_long_sentence() -> None:
    text = (
        "one of those pictures where the hero is stoic , the wife is patient , the kids are as cute as all "
        "get-out and the odds against success are long enough to intimidate"
    )
    loaded = headlight.load("sentiment")
    found = headlight.explain(loaded, text, "deeplift", target="positive")
    masked = Batch.from_ids([101, *[103] * (len(found) - 2), 102])
    gone = headlight.explain(loaded, masked, target="positive").target.logit
    assert float(found.scores.sum()) == pytest.approx(found.target.logit - gone, rel=1e-3)
