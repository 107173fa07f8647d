"""Methods at every layer, from one pass."""

import numpy as np
import pytest

import headlight
from headlight import Batch, InvalidOption
from headlight.models.model import Task
from headlight.trace.decoder import Decoder
from tests.networks import model, rows


def test_all_layers_come_from_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped, batch = model("bert", Task.SEQUENCE), Batch.from_ids(rows())
    decoder = Decoder(model("bert", Task.MASKED))
    single = [
        headlight.explain(wrapped, batch, "decoded_simple", layer=layer, decoder=decoder)
        for layer in range(4)
    ]
    passes = []
    handle = wrapped.network.bert.encoder.register_forward_hook(lambda *_: passes.append(1))  # type: ignore[union-attr]
    swept = headlight.explain_layers(wrapped, batch, "decoded_simple", decoder=decoder)
    handle.remove()
    assert len(passes) == 1
    for number, layers in enumerate(swept):
        assert [a.options["layer"] for a in layers] == [0, 1, 2, 3]
        for layer, answer in enumerate(layers):
            assert answer.method == "decoded_simple"
            np.testing.assert_allclose(answer.scores, single[layer][number].scores, rtol=1e-5)
    some = headlight.explain_layers(wrapped, Batch.from_ids(IDS), decoder=decoder, layers=[1, 3])
    assert [a.options["layer"] for a in some] == [1, 3]
    with pytest.raises(InvalidOption, match="has no layers to choose from"):
        headlight.explain_layers(wrapped, batch, "gae")
    with pytest.raises(InvalidOption, match="explain_layers follows the paper only"):
        headlight.explain_layers(wrapped, batch, "attcat:variant=released")
    with pytest.raises(
        InvalidOption, match="layer 7 does not exist for 'attcat': there are 1 to 3"
    ):
        headlight.explain_layers(wrapped, batch, "attcat", layers=[7])


@pytest.mark.parametrize("method", ["cat", "attcat"])
def test_the_layers_of_a_sum_add_up_to_it(method: str) -> None:
    wrapped, batch = model("bert", Task.SEQUENCE), Batch.from_ids(IDS)
    layers = headlight.explain_layers(wrapped, batch, method)
    assert [a.options["layer"] for a in layers] == [1, 2, 3]
    whole = headlight.explain(wrapped, batch, method)
    np.testing.assert_allclose(sum(a.scores for a in layers), whole.scores, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("method", ["rollout", "alti", "norms", "globenc"])
def test_matrices_are_read_up_to_each_layer(method: str) -> None:
    wrapped, batch = model("bert", Task.SEQUENCE), Batch.from_ids(IDS)
    layers = headlight.explain_layers(wrapped, batch, method)
    mixing = headlight.mix(wrapped, batch, method)
    for layer, found in enumerate(layers):
        np.testing.assert_allclose(found.scores, mixing.at(layer + 1)[0], rtol=1e-5)
    np.testing.assert_allclose(
        layers[-1].scores, headlight.explain(wrapped, batch, method).scores, rtol=1e-5
    )


IDS = rows()[0]
