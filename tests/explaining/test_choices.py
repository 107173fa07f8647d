"""Options that depend on the model: what they are where a call says nothing."""

import headlight
from headlight import Model


def test_causal_models_decode_with_their_own_head(writer: Model) -> None:
    found = headlight.explain(writer, "a film", "decoded_grad_cam")
    assert found.options["decoder"] == "tiny writer"
    assert found.options["layer"] == 2
