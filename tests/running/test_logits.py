"""Running a network, and what is refused before and after."""

import pytest
import torch
from transformers import (
    PreTrainedTokenizerFast,
)

import headlight
from headlight import (
    UnstableModel,
)
from headlight.models.model import Task
from tests.networks import network

TEXT = "a charming and often affecting journey"


def test_nan_weights_are_named(tokenizer: PreTrainedTokenizerFast) -> None:
    net = network("bert", Task.SEQUENCE)
    wrapped = headlight.wrap(net, tokenizer)
    with torch.no_grad():
        net.classifier.weight[0, 0] = torch.nan
    with pytest.raises(UnstableModel, match=r"classifier\.weight"):
        headlight.explain(wrapped, TEXT)
    with pytest.raises(UnstableModel, match=r"classifier\.weight"):
        headlight.wrap(net, tokenizer)
