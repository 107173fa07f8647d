"""Attention alone: a pass without a target and without gradients."""

from collections.abc import Sequence

from headlight.batch import Row, collate
from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.running.logits import check_finite, check_ids
from headlight.shapes import Attention
from headlight.trace.forward import forward
from headlight.trace.recorder import Wants


def attention_of(model: Model, rows: Sequence[Row]) -> list[Attention]:
    """The attention of every layer; short rows are padded."""
    check_ids(model, rows)
    inputs = collate(rows, model.pad_id or 0, model.device)
    run = forward(model, inputs, Wants(attention=True))
    check_finite(run.logits, model)
    if not run.captured.attention:
        raise UnsupportedModel(f"{model.family} computed no attention that could be seen.")
    # The layers of a network may be on several devices.
    return [weights.to(inputs.ids.device) for weights in run.captured.attention]
