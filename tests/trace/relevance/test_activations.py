"""Activations are known by what they do."""

import torch
from torch import Tensor, nn
from transformers.activations import GELUActivation

from headlight.trace.relevance.activations import acts_alone, is_activation


class Cubed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x**3


class Summed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x - x.sum()


class Picky(nn.Module):
    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        return torch.where(mask, x, 0)


def test_a_module_that_acts_on_each_number_alone_is_one() -> None:
    assert acts_alone(Cubed())
    assert not acts_alone(Summed())
    assert not acts_alone(Picky())
    assert is_activation(Cubed())
    assert is_activation(GELUActivation())


class Chosen(nn.Module):
    """One class for any function, as many networks have."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def forward(self, x: Tensor) -> Tensor:
        return torch.softmax(x, -1) if self.name == "softmax" else torch.tanh(x)


def test_one_class_may_be_an_activation_here_and_none_there() -> None:
    assert is_activation(Chosen("tanh"))
    assert not is_activation(Chosen("softmax"))
    assert is_activation(Chosen("tanh"))


def test_modules_of_torch_and_modules_with_parts_are_left_to_their_operations() -> None:
    assert not is_activation(nn.ReLU())
    assert not is_activation(nn.Linear(2, 2))
    assert not is_activation(nn.Sequential(Cubed()))
