"""Attention blocks are taken apart exactly."""

import numpy as np
import torch

import headlight
from headlight import Batch, Target
from headlight.models.model import Task
from headlight.trace.attention_block import put_together
from headlight.trace.trace import trace
from tests.networks import TARGETS, in_pairs, model, network, rows


@in_pairs()
def test_the_parts_of_a_block_add_up_to_its_output(family: str, task: Task) -> None:
    """In 32 bits, with padding, in every layer: what T_i(x_j) and the biases sum to is y_i."""
    batch = Batch.from_ids(rows())
    target = TARGETS.get(task) or Target()
    found = trace(model(family, task), batch.rows, [target] * len(rows()), {"attention_blocks"})
    present = found.inputs.present
    assert len(found.blocks) == 3
    for block in found.blocks:
        gap = (put_together(block) - block.output)[present].abs().max()
        assert gap <= 1e-4 * block.output.abs().max()


def test_a_projection_of_another_kind_is_read_by_what_it_does() -> None:
    class Wrapped(torch.nn.Module):
        def __init__(self, inner: torch.nn.Module) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, given: torch.Tensor) -> torch.Tensor:
            return self.inner(given)

    net = network("bert", Task.SEQUENCE)
    expected = headlight.explain(headlight.wrap(net), Batch.from_ids(rows()), "alti")
    for layer in net.bert.encoder.layer:  # type: ignore[union-attr]
        layer.attention.output.dense = Wrapped(layer.attention.output.dense)
    found = headlight.explain(headlight.wrap(net), Batch.from_ids(rows()), "alti")
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other.scores, one.scores, rtol=1e-4, atol=1e-6)
