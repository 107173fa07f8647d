"""The arguments of a forward are those of the forward that a network has now."""

from functools import partial
from inspect import signature
from typing import Any

import pytest

from headlight.models.arguments import arguments_of
from headlight.models.model import Task
from tests.networks import network


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama"])
def test_the_arguments_are_those_of_the_signature(family: str) -> None:
    net = network(family, Task.SEQUENCE)
    for _ in range(2):
        assert set(signature(net.forward).parameters) == arguments_of(net) - {"self"}


def test_a_forward_that_was_replaced_is_looked_at_again() -> None:
    net: Any = network("bert", Task.SEQUENCE)
    original = net.forward
    assert "token_type_ids" in arguments_of(net)
    net.forward = lambda input_ids, extra=None: original(input_ids)
    assert arguments_of(net) == {"input_ids", "extra"}
    net.forward = partial(original, None)
    assert arguments_of(net) == set(signature(net.forward).parameters)
    del net.forward
    assert "token_type_ids" in arguments_of(net)
