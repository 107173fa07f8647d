"""Operations that no switch sees are found."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import headlight
from headlight import Batch, UnsupportedModel
from headlight.models.model import Task
from tests.networks import network

BATCH = Batch.from_ids([[5, 6, 7, 8], [9, 10]])


class FusedLinear(nn.Linear):
    def forward(self, input: Tensor) -> Tensor:  # noqa: A002
        return Fused.apply(input, self.weight, self.bias)


class Fused(torch.autograd.Function):
    """A product as compiled or foreign code computes it: no operation of torch is seen."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(weight)
        return x @ weight.T + bias

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        return gradient @ ctx.saved_tensors[0], None, None


def test_operations_that_relevance_cannot_see_are_refused_by_relevance_alone() -> None:
    net = network("bert", Task.SEQUENCE)
    net.bert.encoder.layer[1].intermediate.dense.__class__ = FusedLinear  # type: ignore[index, union-attr]
    wrapped = headlight.wrap(net)
    for method in ("lrp", "transformer_attribution"):
        with pytest.raises(UnsupportedModel, match=r"relevance.*Fused.*input_x_gradient"):
            headlight.explain(wrapped, BATCH, method)
    with pytest.raises(UnsupportedModel, match=r"modified.*Fused.*input_x_gradient"):
        headlight.explain(wrapped, BATCH, "attn_lrp")
    assert headlight.explain(wrapped, BATCH, "gae")
