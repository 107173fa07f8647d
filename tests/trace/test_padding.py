"""What methods read is zero at padding."""

import pytest
import torch

from headlight import Batch
from headlight.batch import collate
from headlight.models.model import Task
from headlight.target import Target
from headlight.trace.padding import zero_padding
from headlight.trace.trace import NEEDS, trace
from tests.networks import model, rows


def test_padding_is_zero_in_everything_captured() -> None:
    seen = trace(model("bert", Task.SEQUENCE), Batch.from_ids(rows()).rows, [Target()] * 3, NEEDS)
    away = ~seen.inputs.present
    gradients = seen.gradients()
    for tensor in (*seen.hidden, *gradients.hidden, seen.embeddings, gradients.embeddings):
        assert not tensor[away].any()
    for tensor in (*seen.attention, *gradients.attention):
        assert not tensor.transpose(1, 3)[away].any()
        assert not tensor.transpose(1, 2)[away].any()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ],
)
def test_values_are_detached_and_in_at_least_32_bits(
    given: torch.dtype, expected: torch.dtype
) -> None:
    inputs = collate(Batch.from_ids([[5, 6, 7], [8]]).rows, 0)
    found = zero_padding(torch.ones(2, 3, 4, dtype=given, requires_grad=True), inputs)
    assert (found.dtype, found.requires_grad) == (expected, False)
    assert found.sum(-1).tolist() == [[4, 4, 4], [4, 0, 0]]


def test_attention_is_zero_from_padding_and_to_it() -> None:
    inputs = collate(Batch.from_ids([[5, 6], [8]]).rows, 0)
    found = zero_padding(torch.ones(2, 1, 2, 2), inputs)
    assert found[:, 0].tolist() == [[[1, 1], [1, 1]], [[1, 0], [0, 0]]]


def test_rows_without_padding_are_left_as_they_are() -> None:
    inputs = collate(Batch.from_ids([[5, 6]]).rows, 0)
    values = torch.randn(1, 2, 3)
    assert zero_padding(values, inputs).data_ptr() == values.data_ptr()
