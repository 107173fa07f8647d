"""The fingerprint tells networks apart, in whatever precision, and however their weights were changed."""

import hashlib
from collections.abc import Callable
from copy import deepcopy

import pytest
import torch
from torch import nn
from transformers import PreTrainedModel

import headlight
from headlight.models.fingerprint import SAMPLED, fingerprint
from headlight.models.model import Task
from tests.networks import model, network


def slow_fingerprint(net: PreTrainedModel) -> str:
    """The fingerprint, parameter by parameter and number by number."""
    digest = hashlib.sha256()
    for name, parameter in sorted(net.named_parameters()):
        values = parameter.detach().float().flatten().tolist()
        step = max(1, len(values) // SAMPLED)
        signs = [(value > 0) - (value < 0) for value in values[::step][:SAMPLED]]
        digest.update(f"{name}{tuple(parameter.shape)}".encode())
        digest.update(bytes(sign % 256 for sign in signs))
    return digest.hexdigest()[:12]


def test_the_fingerprint_is_the_same_in_half_precision() -> None:
    own = fingerprint(model("bert", Task.SEQUENCE))
    assert len(own) == 12
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        assert fingerprint(model("bert", Task.SEQUENCE, dtype)) == own
    other = headlight.wrap(network("bert", Task.SEQUENCE, seed=1))
    assert len({own, fingerprint(other), fingerprint(model("bert", Task.TOKEN))}) == 3


def test_the_fingerprint_is_what_a_slow_reading_gives() -> None:
    net = network("bert", Task.SEQUENCE)
    assert fingerprint(headlight.wrap(net)) == slow_fingerprint(net)
    turned = nn.Parameter(net.get_parameter("bert.pooler.dense.weight").detach().t())
    net.get_submodule("bert.pooler.dense").weight = turned  # not in order in memory
    net.get_submodule("classifier").half()
    expected = slow_fingerprint(net)
    assert fingerprint(headlight.Model(net, None, "odd", Task.SEQUENCE, None)) == expected


def train(net: PreTrainedModel) -> None:
    optimiser = torch.optim.SGD(net.parameters(), lr=100.0)
    net(torch.tensor([[5, 6, 7]])).logits[0, 0].backward()
    optimiser.step()


def load(net: PreTrainedModel) -> None:
    net.load_state_dict(network("bert", Task.SEQUENCE, seed=1).state_dict())


def write_behind_autograd(net: PreTrainedModel) -> None:
    weight = net.get_parameter("classifier.weight")
    before = weight._version
    weight.data *= -1
    assert weight._version == before, "torch counts this change: fingerprints could be kept"


def write_through_an_array(net: PreTrainedModel) -> None:
    array = net.get_parameter("classifier.weight").detach().numpy()
    array *= -1


@pytest.mark.parametrize("change", [train, load, write_behind_autograd, write_through_an_array])
def test_weights_changed_in_place_have_another_fingerprint(
    change: Callable[[PreTrainedModel], None],
) -> None:
    wrapped = headlight.wrap(deepcopy(network("bert", Task.SEQUENCE)))
    before = fingerprint(wrapped)
    change(wrapped.network)
    assert fingerprint(wrapped) != before
