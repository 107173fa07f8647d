"""Attention that is known by hand."""

import numpy as np
import torch

import headlight
from headlight import Batch
from headlight.models.model import Task
from tests.networks import network, rows


def test_uniform_attention_has_a_known_rollout() -> None:
    """With A = 1/T everywhere each layer is ½I + ½/T, so L layers leave 2⁻ᴸ I and spread the rest."""
    net = network("bert", Task.SEQUENCE)
    with torch.no_grad():
        for layer in net.bert.encoder.layer:  # type: ignore[union-attr]
            layer.attention.self.query.weight.zero_()
            layer.attention.self.query.bias.zero_()
    ids = rows()[0]
    batch = Batch.from_ids(ids)
    wrapped = headlight.wrap(net)
    raw = headlight.explain(wrapped, batch, "raw_attention").scores
    np.testing.assert_allclose(raw, 1 / len(ids), rtol=1e-6)
    spread = np.full(len(ids), (1 - 2.0**-3) / len(ids))
    spread[0] += 2.0**-3
    rolled = headlight.explain(wrapped, batch, "rollout").scores
    np.testing.assert_allclose(rolled, spread, rtol=1e-5)
