"""Parts found on a live network are those that the table names, and stand the same proofs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.families.tiny import tiny
from torch import nn

import headlight
from headlight import Batch
from headlight.models.architectures import Architecture
from headlight.models.model import Model, Task
from headlight.proof.parts import found_architecture, is_by_token, watched_runs
from headlight.proof.probes import inputs_of, probe_rows
from tests.networks import CONFIGS, DECODERS, model, network, rows

ROWS = [[5, 17, 33, 8, 60, 41], [9, 14, 52]]

IN_SOFTMAX = {"mpnet"}
"""Families whose attention is not seen through the interface, so that its result is not known."""


def found(wrapped: Model) -> Architecture:
    row = found_architecture(
        replace(wrapped, architecture=None), inputs_of(wrapped, probe_rows(wrapped)[:1])
    )
    assert row is not None
    return row


def modules(wrapped: Model, row: Architecture) -> dict[str, list[nn.Module]]:
    same = replace(wrapped, architecture=row)
    parts = same.block_parts if row.parts is not None else []
    return {
        "blocks": same.blocks,
        "final norms": same.final_norms,
        "projections": [part.projection for part in parts],
        "second norms": [part.second_norm for part in parts],
        "norms": [part.norm for part in parts if part.norm is not None],
    }


@pytest.mark.parametrize("family", sorted(set(CONFIGS) - {"albert", "deberta-v2"}))
def test_what_is_found_is_what_the_table_names(family: str) -> None:
    """Only the table knows ALBERT's block, which runs several times, and what is between DeBERTa's blocks."""
    wrapped = model(family, Task.CAUSAL if family in DECODERS else Task.SEQUENCE)
    row = found(wrapped)
    assert wrapped.architecture is not None
    expected, seen = (modules(wrapped, each) for each in (wrapped.architecture, row))
    if family in IN_SOFTMAX:
        assert row.parts is None
        expected = {name: expected[name] for name in ("blocks", "final norms")}
    for name, several in expected.items():
        assert seen[name] == several, name


@pytest.mark.parametrize("family", ["llama", "bert", "gpt2"])
def test_scores_are_the_same_with_found_parts(family: str) -> None:
    task = Task.CAUSAL if family in DECODERS else Task.SEQUENCE
    wrapped = model(family, task, torch.float64)
    other = replace(wrapped, architecture=found(wrapped))
    names = ["attcat", "alti", "transformer_attribution", "attn_lrp", "gae"]
    one, two = (headlight.explain(m, Batch.from_ids(rows()), names, 1) for m in (wrapped, other))
    for name in names:
        for a, b in zip(one[name], two[name], strict=True):
            np.testing.assert_allclose(a.scores, b.scores, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    "family", ["gemma2", "olmo2", "gpt_neox", "opt", "phi3", "stablelm", "cohere"]
)
def test_methods_of_blocks_explain_families_without_a_row(family: str) -> None:
    wrapped = headlight.wrap(tiny(family, "language model"))
    assert wrapped.architecture is not None
    names = ["attcat", "transformer_attribution", "lrp", "cat"]
    together = headlight.explain(wrapped, Batch.from_ids(ROWS), names, 1)
    for name in names:
        alone = headlight.explain(wrapped, Batch.from_ids(ROWS[0]), name, 1).scores
        assert alone.any()
        np.testing.assert_allclose(
            together[name][0].scores, alone, rtol=1e-4, atol=1e-6 * abs(alone).max()
        )


def test_parts_that_do_not_run_once_in_each_block_are_left_out() -> None:
    """X-MOD normalises once more in its adapters."""
    wrapped = headlight.wrap(tiny("xmod", "classifier"))
    assert wrapped.architecture is not None
    assert wrapped.architecture.parts is None
    with pytest.raises(headlight.UnsupportedModel, match="names no parts"):
        headlight.explain(wrapped, Batch.from_ids(ROWS), "alti")


def test_experts_are_no_blocks() -> None:
    row = found(headlight.wrap(tiny("mixtral", "language model")))
    assert row.blocks == "layers"


def test_a_network_in_which_no_blocks_are_found_is_explained_without_them() -> None:
    """XLM has no modules that are blocks, only lists of their parts."""
    wrapped = headlight.wrap(tiny("xlm", "classifier"))
    assert wrapped.architecture is None
    assert headlight.explain(wrapped, Batch.from_ids(ROWS), "attn_lrp")
    with pytest.raises(headlight.UnsupportedModel, match="blocks were not found on the network"):
        headlight.explain(wrapped, Batch.from_ids(ROWS), "attcat")


def test_states_in_which_tokens_are_mixed_are_not_taken_for_embeddings() -> None:
    net: Any = network("llama", Task.CAUSAL)
    wrapped = headlight.wrap(net)
    inputs = inputs_of(wrapped, probe_rows(wrapped)[:1])
    (block, *_) = [r for r in watched_runs(wrapped, inputs) if r.path == "layers.0"]
    assert is_by_token(wrapped, inputs, block)
    # the input of the second block is mixed by the attention of the first
    (second, *_) = [r for r in watched_runs(wrapped, inputs) if r.path == "layers.1"]
    assert not is_by_token(wrapped, inputs, second)
