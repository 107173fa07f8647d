"""Paths from a baseline: they reach the difference to it, or say loudly that they do not."""

import numpy as np
import pytest
import torch

import headlight
from headlight import Batch
from headlight.methods import integrated_gradients as path
from headlight.models.model import Model, Task
from tests.networks import DECODERS, network, rows

IDS = rows()[0]


def decoder(family: str) -> Model:
    return headlight.wrap(network(family, Task.CAUSAL).double())


def missed(found: headlight.Attribution) -> float:
    """The share of the difference that a note says is missed."""
    (note,) = [note for note in found.notes if "miss the difference from the baseline by" in note]
    return float(note.split("baseline by ")[1].split(" %")[0]) / 100


@pytest.mark.parametrize("family", sorted(DECODERS))
def test_integrated_gradients_of_decoders_add_up_by_default(family: str) -> None:
    found = headlight.explain(decoder(family), Batch.from_ids(IDS), "integrated_gradients")
    assert found.options["baseline"] == "mean"
    assert missed(found) < 0.05


def test_steps_are_added_where_the_usual_ones_miss_too_much() -> None:
    """Zero is where the slope of a norm has no bound: 50 steps miss, spans that are halved do not."""
    wrapped, batch = decoder("llama"), Batch.from_ids(IDS)
    few = headlight.explain(wrapped, batch, "integrated_gradients", steps=50, baseline="zero")
    more = headlight.explain(wrapped, batch, "integrated_gradients", baseline="zero")
    assert missed(few) > 0.05 > missed(more)
    assert few.notes[-1].startswith("not reliable")
    assert int(more.notes[-1].split()[-2]) > 50


def test_added_steps_do_not_depend_on_neighbours() -> None:
    wrapped = decoder("llama")
    together = headlight.explain(
        wrapped, Batch.from_ids(rows()), "integrated_gradients", baseline="zero"
    )
    for ids, found in zip(rows(), together, strict=True):
        alone = headlight.explain(
            wrapped, Batch.from_ids(ids), "integrated_gradients", baseline="zero"
        )
        np.testing.assert_allclose(found.scores, alone.scores, rtol=1e-5, atol=1e-8)


def test_a_path_that_never_adds_up_is_a_warning_and_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path, "MOST_STEPS", 50)
    with pytest.warns(UserWarning, match="not reliable: integrated gradients miss"):
        found = headlight.explain(
            decoder("llama"), Batch.from_ids(IDS), "integrated_gradients", baseline="zero"
        )
    assert found.notes[-1].startswith("not reliable: integrated gradients miss")


def test_the_mean_of_all_words_stands_in_the_place_of_a_word() -> None:
    wrapped, batch = decoder("llama"), Batch.from_ids(IDS)
    words = wrapped.network.get_input_embeddings().get_parameter("weight").detach()
    found = headlight.explain(wrapped, batch, "occlusion", baseline="mean")
    with torch.no_grad():
        embedded = wrapped.network.get_input_embeddings()(torch.tensor([IDS]))
        whole = wrapped.network(inputs_embeds=embedded).logits[0, -1]
        embedded[0, 2] = words.mean(0)
        without = wrapped.network(inputs_embeds=embedded).logits[0, -1]
    best = whole.argmax()
    assert found.scores[2] == pytest.approx(float(whole[best] - without[best]), rel=1e-6)


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
