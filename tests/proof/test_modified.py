"""Networks in which gradients cannot be modified are found when they are wrapped."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

import headlight
from headlight import Batch, UnsupportedModel
from headlight.models.model import Task
from headlight.proof.modified import foreign_steps
from tests.networks import in_pairs, model, network
from tests.proof.test_escape import Fused

BATCH = Batch.from_ids([[5, 6, 7, 8], [9, 10]])


class Rounded(nn.Module):
    """Has an operation without a rule: what a modified gradient should be there is not known."""

    def forward(self, x: Tensor) -> Tensor:
        return x + 0.1 * torch.sin(x).cumprod(-1)


def changed(part: nn.Module) -> Any:
    net: Any = network("bert", Task.SEQUENCE)
    dense = net.bert.encoder.layer[1].output.dense
    net.bert.encoder.layer[1].output.dense = nn.Sequential(dense, part)
    return net


@in_pairs()
def test_every_known_family_can_be_modified(family: str, task: Task) -> None:
    assert model(family, task).modified_refusal == ""


def test_an_operation_without_a_rule_is_refused_with_its_place() -> None:
    wrapped = headlight.wrap(changed(Rounded()))
    assert (
        "'cumprod' (in bert.encoder.layer.1.output.dense.1) has no rule" in wrapped.modified_refusal
    )
    with pytest.raises(UnsupportedModel, match=r"cumprod.*input_x_gradient"):
        headlight.explain(wrapped, BATCH, "attn_lrp")
    assert headlight.explain(wrapped, BATCH, "input_x_gradient")


def test_steps_that_others_wrote_are_found() -> None:
    x = torch.ones(1, 2, requires_grad=True)
    weight, bias = torch.eye(2), torch.zeros(2)
    assert foreign_steps(Fused.apply(x, weight, bias) + x) == ["Fused"]
    assert foreign_steps(x * 2) == []
