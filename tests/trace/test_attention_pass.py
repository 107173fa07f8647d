"""Attention without a target."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from transformers import MambaConfig, MambaForCausalLM

import headlight
from headlight import Batch, InvalidInput, Model, UnsupportedModel
from headlight.batch import encode
from headlight.models.model import Task
from headlight.trace import attention_pass
from headlight.trace.attention_pass import attention_of
from headlight.trace.forward import Pass
from tests.networks import model


def test_attention_is_seen_without_a_target(classifier: Model) -> None:
    rows = encode(["a good film", "bad"], classifier.tokenizer)  # type: ignore[arg-type]
    maps = attention_of(classifier, rows)
    assert [tuple(layer.shape) for layer in maps] == [(2, 4, 5, 5)] * 3
    for layer in maps:
        assert not layer.requires_grad
        torch.testing.assert_close(layer[0].sum(-1), torch.ones(4, 5))
        torch.testing.assert_close(layer[1, :, :3, :3].sum(-1), torch.ones(4, 3))


def test_ids_of_another_vocabulary_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"row 0 has the token id 5000, but the vocabulary"):
        attention_of(model("bert", Task.SEQUENCE), Batch.from_ids([[5000]]).rows)


def test_a_network_without_attention_is_refused() -> None:
    config = MambaConfig(vocab_size=60, hidden_size=16, state_size=4, num_hidden_layers=1)
    wrapped = headlight.wrap(MambaForCausalLM(config).eval())
    with pytest.raises(UnsupportedModel, match="computes no attention that can be seen"):
        attention_of(wrapped, Batch.from_ids([[5, 6, 7]]).rows)


def test_a_network_that_leaves_its_attention_out_on_an_input_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It was seen when the network was wrapped, and is not now."""
    plain = attention_pass.forward  # type: ignore[attr-defined]

    def unseen(*call: Any) -> Pass:
        found = plain(*call)
        return replace(found, captured=replace(found.captured, attention=()))

    monkeypatch.setattr(attention_pass, "forward", unseen)
    with pytest.raises(UnsupportedModel, match="computed no attention that could be seen"):
        attention_of(model("bert", Task.SEQUENCE), Batch.from_ids([[5, 6, 7]]).rows)
