"""Relevance by the z⁺ rule keeps its digits: values have 64 bits, whatever the network has."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import spearmanr

import headlight
from headlight import METHODS, Batch
from headlight.models.model import Task
from headlight.running import precision
from tests.networks import network, rows

ROUNDING = float(np.finfo(np.float32).eps)
"""What writing an exact score down in 32 bits may change, and no more."""
SWEPT = 1e-6
"""What products of the way back in 32 bits may change, as a share of the largest score; no rank changes."""
RELEVANCE = ["lrp", "partial_lrp", "transformer_attribution"]


@pytest.mark.parametrize("family", ["bert", "gpt2", "qwen3"])
def test_relevance_of_several_rows_equals_its_64_bit_value(family: str) -> None:
    net = network(family, Task.SEQUENCE)
    batch = Batch.from_ids(rows())
    found = headlight.explain(headlight.wrap(net), batch, RELEVANCE)
    exact = headlight.explain(headlight.wrap(deepcopy(net).double()), batch, RELEVANCE)
    for method in RELEVANCE:
        for own, true in zip(found[method], exact[method], strict=True):
            size = 0 if method == "lrp" else np.abs(true.scores).max()
            bound = 1e-14 + SWEPT * size
            np.testing.assert_allclose(own.scores, true.scores, rtol=ROUNDING, atol=bound)
            assert list(own.scores.argsort()) == list(true.scores.argsort())
            assert own.notes == ()


def test_relevance_of_a_batch_equals_that_of_its_rows() -> None:
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE))
    together = headlight.explain(wrapped, Batch.from_ids(rows()), RELEVANCE)
    for number, ids in enumerate(rows()):
        alone = headlight.explain(wrapped, Batch.from_ids(ids), RELEVANCE)
        for method in RELEVANCE:
            size = np.abs(alone[method].scores).max()
            np.testing.assert_allclose(
                together[method][number].scores, alone[method].scores, atol=2 * ROUNDING * size
            )


def test_the_network_is_as_it_was_and_other_methods_keep_its_type() -> None:
    net = network("bert", Task.SEQUENCE).train()
    before = {name: values.clone() for name, values in net.state_dict().items()}
    found = headlight.explain(
        headlight.wrap(net), Batch.from_ids(rows()[0]), ["gae", "lrp", "attcat"]
    )
    assert list(found) == ["gae", "lrp", "attcat"]
    assert found["gae"].scores.dtype == np.float32
    assert net.training
    assert all(parameter.requires_grad for parameter in net.parameters())
    for name, values in net.state_dict().items():
        assert values.dtype == before[name].dtype
        assert torch.equal(values, before[name])


def test_attn_lrp_needs_no_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    wrapped, batch = headlight.wrap(network("bert", Task.SEQUENCE)), Batch.from_ids(rows())
    monkeypatch.setattr(precision, "copied", lambda *_: pytest.fail("the network was copied"))
    for method in ("attn_lrp", "lrp:preset=attn_lrp"):
        assert [answer.notes for answer in headlight.explain(wrapped, batch, method)] == [()] * 3


def test_changed_weights_are_seen_at_once() -> None:
    net: Any = network("bert", Task.SEQUENCE)
    wrapped, batch = headlight.wrap(net), Batch.from_ids(rows()[0])
    before = headlight.explain(wrapped, batch, "lrp", 1).scores
    net.classifier.weight.data.mul_(-1)
    assert not np.allclose(headlight.explain(wrapped, batch, "lrp", 1).scores, before)


def test_a_widened_weight_knows_the_stored_one_until_that_changes() -> None:
    net: Any = network("bert", Task.SEQUENCE)
    wide: Any = precision.copied(net, torch.float64)
    own, copy = net.classifier.weight, wide.classifier.weight
    narrow = precision.stored(copy)
    assert narrow is not None
    assert narrow.data_ptr() == own.data_ptr()
    assert precision.stored(own) is None
    with torch.no_grad():
        own.mul_(2)
    assert precision.stored(copy) is None


def test_a_large_network_says_that_digits_are_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precision, "MOST_PARAMETERS", 1_000)
    wrapped = headlight.wrap(network("bert", Task.SEQUENCE))
    found = headlight.explain(wrapped, Batch.from_ids(rows()[0]), "lrp")
    assert found.notes[-1].startswith("computed in float32, not float64 (the network has more than")


def test_relevance_and_paths_of_16_bit_networks_are_computed_in_more() -> None:
    net = network("bert", Task.SEQUENCE).to(torch.bfloat16)  # type: ignore[arg-type]
    wrapped, batch = headlight.wrap(net), Batch.from_ids(rows()[0])
    exact = headlight.wrap(deepcopy(net).double())
    lrp = headlight.explain(wrapped, batch, "lrp", 1)
    np.testing.assert_allclose(
        lrp.scores, headlight.explain(exact, batch, "lrp", 1).scores, ROUNDING
    )
    assert lrp.notes == ("computed in float64 from bfloat16 weights",)
    paths = headlight.explain(wrapped, batch, "integrated_gradients", 1, steps=5)
    true = headlight.explain(exact, batch, "integrated_gradients", 1, steps=5)
    np.testing.assert_allclose(paths.scores, true.scores, rtol=1e-3, atol=1e-5)
    assert "computed in float32 from bfloat16 weights" in paths.notes


def test_quantised_weights_and_replaced_forwards_are_not_copied() -> None:
    net: Any = network("bert", Task.SEQUENCE)
    assert precision.obstacle(net) == ""
    net.classifier.forward = lambda values: values
    assert precision.obstacle(net) == "the forward of a part of it was replaced"
    other: Any = network("bert", Task.SEQUENCE)
    other.classifier.weight = torch.nn.Parameter(
        torch.ones(2, 2, dtype=torch.int8), requires_grad=False
    )
    assert precision.obstacle(other) == "its weights are quantised"


def test_scores_that_are_all_alike_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    wrapped, batch = headlight.wrap(network("bert", Task.SEQUENCE)), Batch.from_ids(rows()[0])
    for value, said in ((0.0, "all scores are 0"), (0.5, "all scores are equal")):
        even = replace(
            METHODS["gae"],
            function=lambda trace, value=value: torch.full_like(trace.weights, value),
        )
        monkeypatch.setitem(METHODS.entries, "gae", even)
        found = headlight.explain(wrapped, batch, "gae")
        assert found.notes == (f"{said}: this method says nothing here",)


SWEPT_BACK = ["attn_lrp", "cp_lrp", "libragrad", "gim", "input_x_gradient", "gae", "simple"]
HALVES = [torch.bfloat16, torch.float16]


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(("family", "task"), [("bert", Task.SEQUENCE), ("llama", Task.CAUSAL)])
def test_what_goes_back_through_a_16_bit_network_is_computed_in_32_bits(
    family: str, task: Task, dtype: torch.dtype
) -> None:
    """Small weights, so that digits are not lost to differences of large terms, whatever the processor."""
    net = network(family, task, initializer_range=0.05).to(dtype)  # type: ignore[arg-type]
    batch, kind = Batch.from_ids(rows()), str(dtype).removeprefix("torch.")
    found = headlight.explain(headlight.wrap(net), batch, SWEPT_BACK, 1)
    exact = headlight.explain(headlight.wrap(deepcopy(net).double()), batch, SWEPT_BACK, 1)
    for method in SWEPT_BACK:
        for own, true in zip(found[method], exact[method], strict=True):
            assert own.notes[0] == f"computed in float32 from {kind} weights"
            assert np.abs(own.scores - true.scores).max() < 1e-3 * np.abs(true.scores).max(), method


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize(("family", "task"), [("bert", Task.SEQUENCE), ("llama", Task.CAUSAL)])
def test_modified_gradients_of_networks_too_large_to_copy_keep_the_order(
    family: str, task: Task, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "MOST_PARAMETERS", 0)
    net = network(family, task, initializer_range=0.05).to(dtype)  # type: ignore[arg-type]
    batch, names = Batch.from_ids(rows()), SWEPT_BACK[:4]
    found = headlight.explain(headlight.wrap(net), batch, names, 1)
    exact = headlight.explain(headlight.wrap(deepcopy(net).double()), batch, names, 1)
    for method in names:
        own = np.concatenate([a.scores for a in found[method]])
        true = np.concatenate([a.scores for a in exact[method]])
        assert np.abs(own - true).max() < 0.1 * np.abs(true).max(), method
        assert spearmanr(own, true).statistic > 0.95, method
        assert precision.MEASURED[dtype] in found[method][0].notes[0]
