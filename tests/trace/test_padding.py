"""What methods read is zero at padding."""

from headlight import Batch
from headlight.models.model import Task
from headlight.target import Target
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
