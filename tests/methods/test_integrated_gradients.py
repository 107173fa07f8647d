"""Paths from a baseline: they reach the difference to it, or say loudly that they do not."""

import numpy as np
import pytest

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
