"""What a pass keeps is counted per token, without the weights."""

import torch
from torch import nn

from headlight.models.model import Task
from headlight.proof.kept import is_plain, kept_per_token
from headlight.proof.probes import inputs_of, probe_rows
from tests.networks import model


def test_more_layers_keep_more_and_weights_do_not_count() -> None:
    wrapped = model("bert", Task.SEQUENCE)
    found = kept_per_token(wrapped, inputs_of(wrapped, probe_rows(wrapped)[:1]))
    config = wrapped.network.config
    weights = sum(parameter.numel() for parameter in wrapped.network.parameters())
    assert found > config.num_hidden_layers * config.hidden_size
    assert found < weights / 6
    assert found == wrapped.kept_per_token


def test_only_tensors_with_memory_count() -> None:
    assert is_plain(torch.ones(2))
    assert is_plain(nn.Parameter(torch.ones(2)))
    assert not is_plain(torch.ones(2, device="meta"))
