"""The language-model head as a function of hidden states."""

from dataclasses import replace

import pytest
import torch

from headlight import Batch
from headlight.models.model import Task
from headlight.target import Target
from headlight.trace.decoder import Decoder
from headlight.trace.trace import trace
from tests.networks import DECODERS, model, rows

NEEDS = {"hidden", "hidden_gradient"}


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "electra", "albert", "mpnet",
                                    "deberta-v2", "modernbert", *sorted(DECODERS)])  # fmt: skip
def test_the_last_layer_decodes_to_what_the_network_says(family: str) -> None:
    task = Task.CAUSAL if family in DECODERS else Task.MASKED
    wrapped = replace(model(family, task), gives_few_logits=False)
    found = trace(wrapped, Batch.from_ids([rows()[0]]).rows, [Target(position=0)] if
                  task is Task.MASKED else [Target()], NEEDS)  # fmt: skip
    said = Decoder(wrapped).probabilities(found.hidden[-1])
    torch.testing.assert_close(said, found.logits.softmax(-1), rtol=1e-4, atol=1e-6)
