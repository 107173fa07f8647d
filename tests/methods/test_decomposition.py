"""Attention blocks taken apart: what adds up, what is known, memory, and the authors' matrices."""

from typing import Any

import numpy as np
import pytest
import torch

import headlight
from headlight import Batch, InvalidOption, Target
from headlight.methods import decomposition
from headlight.models.model import Task
from headlight.trace.trace import trace
from tests.networks import DECODERS, model, network, rows


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_rows_are_shares_and_causal_tokens_see_nothing_ahead(family: str) -> None:
    task = Task.CAUSAL if family in DECODERS else Task.SEQUENCE
    batch = Batch.from_ids(rows())
    found = trace(model(family, task), batch.rows, [Target()] * len(rows()), {"attention_blocks"})
    present = found.inputs.present
    for layers in (decomposition.alti_layers(found), decomposition.norm_layers(found)):
        for matrix in layers:
            torch.testing.assert_close(matrix.sum(-1), present.float(), rtol=0, atol=1e-5)
            assert bool((matrix >= 0).all())
            if family in DECODERS:
                assert not matrix.triu(1).any()


@pytest.mark.parametrize("name", ["alti", "norms", "globenc", "alti_ln2"])
def test_less_memory_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    batch = Batch.from_ids(rows())
    whole = headlight.explain(model("bert", Task.SEQUENCE), batch, name)
    monkeypatch.setattr(decomposition, "CACHED", 1e-9)
    by_token = headlight.explain(model("bert", Task.SEQUENCE), batch, name)
    for one, other in zip(whole, by_token, strict=True):
        np.testing.assert_allclose(other.scores, one.scores, rtol=1e-5, atol=1e-7)


def test_heads_that_write_nothing_leave_every_token_to_itself() -> None:
    """With W_O = 0 only the residual is left, so each layer is the identity and [CLS] keeps all."""
    net: Any = network("bert", Task.SEQUENCE)
    with torch.no_grad():
        for layer in net.bert.encoder.layer:
            layer.attention.output.dense.weight.zero_()
            layer.attention.output.dense.bias.zero_()
            layer.attention.output.LayerNorm.bias.zero_()
    ids = rows()[0]
    for name in ("alti", "norms"):
        found = headlight.explain(headlight.wrap(net), Batch.from_ids(ids), name).scores
        np.testing.assert_allclose(found, np.eye(len(ids))[0], atol=1e-6)


def test_a_row_that_nothing_brings_nearer_keeps_its_token() -> None:
    """With every γ = 0 the block gives β whatever it reads: no token is nearer to it than another."""
    net: Any = network("bert", Task.SEQUENCE)
    with torch.no_grad():
        for layer in net.bert.encoder.layer:
            layer.attention.output.LayerNorm.weight.zero_()
            layer.attention.output.LayerNorm.bias.fill_(1.0)
    found = headlight.explain(headlight.wrap(net), Batch.from_ids(rows()[0]), "alti").scores
    np.testing.assert_array_equal(found, np.eye(len(rows()[0]))[0])


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidOption, match=r"p=3 is not possible.*Use 1 or 2"):
        headlight.explain(model("bert", Task.SEQUENCE), Batch.from_ids(rows()), "alti", p=3)
    with pytest.raises(InvalidOption, match="workspace=0 is not possible"):
        headlight.explain(
            model("bert", Task.SEQUENCE), Batch.from_ids(rows()), "norms", workspace=0
        )
