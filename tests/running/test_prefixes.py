"""Keys and values of a shared beginning change no probability, whatever the rows that follow it."""

import numpy as np
import pytest
import torch
from transformers import BloomConfig, BloomForCausalLM, MambaConfig, MambaForCausalLM

import headlight
from headlight.models.model import Model, Task
from headlight.running.double import double
from headlight.running.prefixes import (
    Read,
    by_shared_length,
    packed,
    prefix_of,
    token_log_probabilities,
)
from tests.networks import DECODERS, model, network

IDS = tuple(range(10, 40))
ROWS = [
    Read(IDS, 26),
    Read((*IDS[:5], *IDS[9:]), 22),
    Read((*IDS[:5], *IDS[12:]), 19),
    Read((*IDS[:5], *IDS[9:12], *IDS[20:]), 14),
    Read(IDS[20:], 6),
]
"""The whole, three rows that lack something after the fifth token, and one that shares nothing."""


def read_whole(wrapped: Model, row: Read) -> list[float]:
    """Log-probabilities from a plain pass over one row."""
    with torch.no_grad():
        logs = wrapped.network(torch.tensor([row.ids])).logits[0].double().log_softmax(-1)
    return [float(logs[place - 1, row.ids[place]]) for place in range(row.first, len(row.ids))]


@pytest.mark.parametrize("family", sorted(DECODERS))
def test_log_probabilities_after_a_prefix_are_those_of_whole_passes(family: str) -> None:
    wrapped = double(model(family, Task.CAUSAL, torch.float64))
    with torch.no_grad():
        prefix = prefix_of(wrapped, IDS[:26])
        found = token_log_probabilities(wrapped, ROWS, prefix, batch_size=2)
        plain = token_log_probabilities(wrapped, ROWS)
    assert (prefix is None) == (family == "mistral")  # whose window forgets
    for row, own, other in zip(ROWS, found, plain, strict=True):
        assert np.abs(own - read_whole(wrapped, row)).max() < 1e-9
        assert np.abs(own - other).max() < 1e-9


@pytest.mark.parametrize(
    ("kind", "config", "is_kept"),
    [
        (BloomForCausalLM, BloomConfig(vocab_size=120, hidden_size=32, n_layer=2, n_head=4), True),
        (MambaForCausalLM, MambaConfig(vocab_size=120, hidden_size=32, num_hidden_layers=2), False),
    ],
)
def test_other_families_read_whole_rows_or_a_prefix_alike(
    kind: type, config: object, is_kept: bool
) -> None:
    torch.manual_seed(0)
    wrapped = double(headlight.wrap(kind(config).double().eval()))
    with torch.no_grad():
        prefix = prefix_of(wrapped, IDS[:26])
        found = token_log_probabilities(wrapped, ROWS, prefix)
    assert (prefix is not None) == is_kept
    for row, own in zip(ROWS, found, strict=True):
        assert np.abs(own - read_whole(wrapped, row)).max() < 1e-9


def test_a_prefix_is_used_again_unchanged() -> None:
    wrapped = double(model("llama", Task.CAUSAL, torch.float64))
    with torch.no_grad():
        prefix = prefix_of(wrapped, IDS[:26])
        assert prefix is not None
        before = [keys.clone() for keys, _ in prefix.layers]
        first = token_log_probabilities(wrapped, ROWS, prefix)
        second = token_log_probabilities(wrapped, ROWS, prefix)
    assert all(torch.equal(a, b) for a, (b, _) in zip(before, prefix.layers, strict=True))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def test_rows_are_grouped_by_what_they_share() -> None:
    prefix = prefix_of(double(model("llama", Task.CAUSAL)), IDS[:26])
    assert by_shared_length(ROWS, prefix) == {25: [0], 5: [1, 2, 3], 0: [4]}
    assert by_shared_length(ROWS, None) == {0: [0, 1, 2, 3, 4]}


def test_rows_of_similar_length_share_a_pass() -> None:
    wrapped = model("llama", Task.CAUSAL)
    assert list(packed(wrapped, ROWS, [1, 2, 3], 5, 32)) == [[1, 2], [3]]
    assert list(packed(wrapped, ROWS, [1, 2, 3], 5, 1)) == [[1], [2], [3]]


def test_logits_that_are_not_finite_are_refused() -> None:
    wrapped = double(headlight.wrap(network("llama", Task.CAUSAL)))
    with torch.no_grad():
        for parameter in wrapped.network.parameters():
            parameter.fill_(float("nan"))
        with pytest.raises(headlight.UnstableModel, match="NaN or infinite logits"):
            token_log_probabilities(wrapped, ROWS[:1])
