"""What every reading of Mask-LRP keeps, on every family and task."""

from itertools import product

import numpy as np
import torch

import headlight
from headlight import Batch, HeadMask
from headlight.models.model import Task
from tests.networks import TARGETS, in_pairs, model, rows

READ_OUT = ("rows=plain,diagonal=kept", "rows=normalised,diagonal=zero")
MASKED = [f"empty={e},parts={p}" for e, p in product(("open", "residual"), ("sum", "union"))]
ALL_HEADS = HeadMask(
    {
        "syntactic": torch.tensor([[1, 1, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1]]).bool(),
        "positional": torch.tensor([[0, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 0]]).bool(),
    }
)
"""Every head, in two parts that share one."""


@in_pairs()
def test_a_mask_of_all_heads_is_no_mask_in_every_reading(family: str, task: Task) -> None:
    wrapped, batch = model(family, task, torch.float64), Batch.from_ids(rows())
    plain = [f"transformer_attribution:{read_out}" for read_out in READ_OUT]
    masked = [f"mask_lrp:{reading},{out}" for out in READ_OUT for reading in MASKED]
    target = TARGETS.get(task)
    found = headlight.explain(wrapped, batch, [*plain, *masked], target, mask=ALL_HEADS)
    for name in masked:
        unmasked = found[plain["normalised" in name]]
        for one, other in zip(found[name], unmasked, strict=True):
            np.testing.assert_allclose(one.scores, other.scores, rtol=1e-9, atol=1e-12)
