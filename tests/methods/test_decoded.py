"""Decoded layers: a known answer, both forms, all layers from one pass, and decoders that do not fit."""

import numpy as np
import pytest
import torch

import headlight
from headlight import Batch, InvalidInput, InvalidOption, Model
from headlight.models.model import Task
from headlight.target import Target
from headlight.trace.decoder import Decoder
from headlight.trace.trace import trace
from tests.networks import DECODERS, model, network, rows

NEEDS = {"hidden", "hidden_gradient"}


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "electra", "albert", "mpnet",
                                    "deberta-v2", "modernbert", *sorted(DECODERS)])  # fmt: skip
def test_the_last_layer_decodes_to_what_the_network_says(family: str) -> None:
    task = Task.CAUSAL if family in DECODERS else Task.MASKED
    wrapped = model(family, task)
    found = trace(wrapped, Batch.from_ids([rows()[0]]).rows, [Target(position=0)] if
                  task is Task.MASKED else [Target()], NEEDS)  # fmt: skip
    said = Decoder(wrapped).probabilities(found.hidden[-1])
    torch.testing.assert_close(said, found.logits.softmax(-1), rtol=1e-4, atol=1e-6)


def test_a_layer_that_decodes_to_itself_keeps_every_token_its_own() -> None:
    """Where the head is sure that each place holds its own token, decoding changes nothing."""
    wrapped, batch = model("bert", Task.SEQUENCE), Batch.from_ids([[5, 9, 7, 30, 11]])

    class Certain(Decoder):
        def probabilities(self, hidden: torch.Tensor) -> torch.Tensor:
            return torch.eye(120)[torch.tensor([[5, 9, 7, 30, 11]])]

    decoder = Certain(model("bert", Task.MASKED))
    plain = headlight.explain(wrapped, batch, "grad_cam").scores
    for form in ("equation", "algorithm"):
        found = headlight.explain(
            wrapped, batch, "decoded_grad_cam", layer=0, decoder=decoder, form=form
        )
        np.testing.assert_allclose(found.scores, plain, rtol=1e-6)


def test_forms_and_top_follow_the_paper() -> None:
    wrapped, ids = model("bert", Task.SEQUENCE), [5, 9, 7, 9, 11]
    batch, decoder = Batch.from_ids([ids]), Decoder(model("bert", Task.MASKED))
    seen = trace(wrapped, batch.rows, [Target()], NEEDS)
    own = (seen.hidden[2] * seen.gradients().hidden[2]).sum(-1)[0]
    said = decoder.probabilities(seen.hidden[2])[0]
    types = [5, 7, 9, 11]
    for top in (None, 1, 2):
        kept = said[:, types].clone()
        for j in range(len(ids)):
            order = kept[j].argsort(descending=True)
            kept[j, order[top:] if top else []] = 0
        for form in ("equation", "algorithm"):
            found = headlight.explain(
                wrapped, batch, "decoded_grad_cam", layer=2, decoder=decoder, form=form, top=top
            ).scores
            for place, token in enumerate(ids):
                weights = kept[:, types.index(token)]
                expected = (
                    (weights * own).sum().clamp(min=0)
                    if form == "equation"
                    else (weights * own.clamp(min=0)).sum()
                )
                assert found[place] == pytest.approx(float(expected), rel=1e-4, abs=1e-9)
            assert found[1] == found[3]


def test_all_layers_come_from_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped, batch = model("bert", Task.SEQUENCE), Batch.from_ids(rows())
    decoder = Decoder(model("bert", Task.MASKED))
    single = [
        headlight.explain(wrapped, batch, "decoded_simple", layer=layer, decoder=decoder)
        for layer in range(4)
    ]
    passes = []
    handle = wrapped.network.get_submodule("bert.encoder").register_forward_hook(
        lambda *_: passes.append(1)
    )
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


def test_causal_models_decode_with_their_own_head(writer: Model) -> None:
    found = headlight.explain(writer, "a film", "decoded_grad_cam")
    assert found.options["decoder"] == "tiny writer"
    assert found.options["layer"] == 2


def test_bad_input_is_refused() -> None:
    bert, batch = model("bert", Task.SEQUENCE), Batch.from_ids(IDS)
    decoder = model("bert", Task.MASKED)
    with pytest.raises(InvalidOption, match="has no language-model head to decode its layers with"):
        headlight.explain(bert, batch, "decoded_grad_cam")
    with pytest.raises(InvalidOption, match="so it has no language-model head"):
        headlight.explain(bert, batch, "decoded_grad_cam", decoder=bert)
    with pytest.raises(InvalidOption, match="takes a model, a name or a folder, not a int"):
        headlight.explain(bert, batch, "decoded_grad_cam", decoder=3)
    with pytest.raises(InvalidOption, match="layer=4 does not exist"):
        headlight.explain(bert, batch, "decoded_grad_cam", decoder=decoder, layer=4)
    with pytest.raises(InvalidOption, match="layer='x' is not possible"):
        headlight.explain(bert, batch, "decoded_grad_cam", decoder=decoder, layer="x")
    with pytest.raises(InvalidOption, match="top=0 is not possible"):
        headlight.explain(bert, batch, "decoded_grad_cam", decoder=decoder, top=0)
    with pytest.raises(InvalidOption, match="form='x' is not possible"):
        headlight.explain(bert, batch, "decoded_grad_cam", decoder=decoder, form="x")
    for change, message in (
        ({"hidden_size": 16}, "of 16 features"),
        ({"vocab_size": 90}, "90 tokens"),
    ):
        other = headlight.wrap(network("bert", Task.MASKED, **change))
        with pytest.raises(InvalidInput, match=message):
            headlight.explain(bert, batch, "decoded_grad_cam", decoder=other)
