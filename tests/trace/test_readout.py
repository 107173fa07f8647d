"""Where a head reads is known exactly from gradients, or refused."""

import pytest
import torch
from torch import Tensor

import headlight
from headlight import Batch, UnsupportedModel
from tests.proof.test_readout import READING, pooled


def test_an_input_that_is_read_elsewhere_than_the_probes_is_refused() -> None:
    def pool(ids: Tensor, states: Tensor, _mask: Tensor) -> Tensor:
        return states[torch.arange(len(states)), (ids == 119).long().argmax(1)]

    wrapped = pooled(pool)
    plain, odd = Batch.from_ids([20, 21, 22, 23]), Batch.from_ids([20, 21, 119, 23])
    assert headlight.explain(wrapped, plain, "gae").target.positions == (0,)
    for method in READING:
        with pytest.raises(
            UnsupportedModel, match=r"reads this input at other tokens.*input_x_grad"
        ):
            headlight.explain(wrapped, odd, method)
    assert headlight.explain(wrapped, odd, "input_x_gradient").scores.shape == (4,)
