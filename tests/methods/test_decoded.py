"""Decoded layers: a known answer, both forms, all layers from one pass, and decoders that do not fit."""

import numpy as np
import pytest
import torch

import headlight
from headlight import Batch, InvalidInput, InvalidOption
from headlight.models.model import Task
from headlight.target import Target
from headlight.trace.decoder import Decoder
from headlight.trace.trace import trace
from tests.networks import model, network, rows

NEEDS = {"hidden", "hidden_gradient"}


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


IDS = rows()[0]


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
