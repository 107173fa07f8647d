"""The heads of a model, and which of them its mask keeps."""

import pytest

from headlight import Model
from headlight.heads.masks import chosen_mask
from tests.web.asking import TEXT
from tests.web.sites import Site, refused


def test_the_heads_of_a_model_are_told(page: Site, sentiment: Model) -> None:
    found = page.get("/api/heads", model="sentiment").json()
    own = chosen_mask(sentiment, "both")
    assert (found["layers"], found["heads"]) == tuple(own.heads.shape)
    assert found["open"] == own.heads.tolist()
    for layer in range(found["layers"]):
        for head in range(found["heads"]):
            assert found["kinds"][layer][head] == own.kind(layer + 1, head + 1)
            assert tuple(found["roles"][layer][head]) == own.roles.get((layer + 1, head + 1), ())
            assert (found["kinds"][layer][head] is not None) == found["open"][layer][head]


def test_every_head_of_a_model_without_a_mask_is_on(page: Site, classifier: Model) -> None:
    found = page.get("/api/heads", model="classifier").json()
    config = classifier.network.config
    assert found["open"] == [[True] * config.num_attention_heads] * config.num_hidden_layers
    assert {kind for layer in found["kinds"] for kind in layer} == {None}
    asked = {"model": "classifier", "text": TEXT}
    (masked,) = page.answer("explain", **asked, methods=["mask_lrp"], mask=found["open"])[
        "attributions"
    ]
    (whole,) = page.answer("explain", **asked, methods=["transformer_attribution"])["attributions"]
    assert masked["data"]["scores"] == pytest.approx(whole["data"]["scores"], rel=1e-5)


def test_heads_of_no_model_are_refused(page: Site) -> None:
    assert refused(page.get("/api/heads", model="none"))[0] == 404
    assert refused(page.get("/api/heads"))[0] == 422
