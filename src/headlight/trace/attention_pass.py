"""Attention alone: a pass without a target and without gradients."""

from collections.abc import Sequence

from headlight.batch import Row, collate
from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.running.logits import check_finite, check_ids
from headlight.shapes import Attention
from headlight.trace.capture import Wants
from headlight.trace.forward import forward


def attention_of(model: Model, rows: Sequence[Row]) -> list[Attention]:
    """The attention of every layer, padded as the rows are."""
    check_ids(model, rows)
    inputs = collate(rows, model.pad_id or 0, model.network.device)
    found = forward(model, inputs, Wants(attention=True))
    check_finite(found.logits, model)
    if not found.captured.attention:
        raise UnsupportedModel(f"{model.family} computed no attention that could be seen.")
    return list(found.captured.attention)
