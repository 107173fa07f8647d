"""Means of gradients at points that are drawn."""

from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import Batch
from headlight.models.model import Task
from tests.methods.test_integrated_gradients import decoder, missed
from tests.networks import model, network, rows

IDS = rows()[0]


def scores(name: str, **options: Any) -> np.ndarray:
    wrapped, batch = model("bert", Task.SEQUENCE, torch.float64), Batch.from_ids(IDS)
    return headlight.explain(wrapped, batch, name, target=1, **options).scores


def test_smooth_gradient_behind_a_layer_norm_shows_lengths_and_says_so() -> None:
    found = headlight.explain(decoder("gpt2"), Batch.from_ids(IDS), "smooth_gradient", samples=2)
    assert np.ptp(found.scores) > 0
    assert found.scores.sum() == pytest.approx(1)
    assert "its length is shown instead" in found.notes[-1]
    other = headlight.explain(decoder("llama"), Batch.from_ids(IDS), "smooth_gradient", samples=2)
    assert not any("instead" in note for note in other.notes)


def test_gradient_shap_says_how_far_it_misses() -> None:
    found = headlight.explain(decoder("llama"), Batch.from_ids(IDS), "gradient_shap", samples=4)
    assert 0 < missed(found) < 10


def test_gradient_shap_approaches_integrated_gradients() -> None:
    expected = scores("integrated_gradients", baseline="pad")
    found = scores("gradient_shap", samples=600, baseline="pad")
    np.testing.assert_allclose(found, expected, atol=0.1 * np.abs(expected).max())


def test_smooth_gradient_without_noise_is_the_gradient_of_the_loss() -> None:
    net = network("bert", Task.SEQUENCE).double()
    leaf = net.bert.embeddings(torch.tensor([IDS])).detach().requires_grad_()  # type: ignore[operator, union-attr]
    hidden = net.bert.encoder(leaf).last_hidden_state  # type: ignore[operator, union-attr]
    loss = -net.classifier(net.bert.pooler(hidden)).log_softmax(-1)[0, 1]  # type: ignore[operator, union-attr]
    (gradient,) = torch.autograd.grad(loss, leaf)
    expected = gradient[0].sum(-1).abs()
    found = scores("smooth_gradient", scale=0.0, samples=2)
    np.testing.assert_allclose(found, expected / expected.sum(), rtol=1e-7)
    assert not np.allclose(scores("smooth_gradient", scale=0.3), found)
