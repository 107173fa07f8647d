"""Attention alone: a pass without a target and without gradients."""

from collections.abc import Sequence

from headlight.batch import Row, collate
from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.running.logits import check_finite, check_ids
from headlight.shapes import Attention
from headlight.trace.capture import Recorder, watched_logits


def attention_of(model: Model, rows: Sequence[Row]) -> list[Attention]:
    """The attention of every layer, padded as the rows are."""
    check_ids(model, rows)
    recorder = Recorder(wants_attention=True)
    inputs = collate(rows, model.pad_id or 0, model.network.device)
    check_finite(watched_logits(model, recorder, inputs), model)
    if not recorder.attention:
        raise UnsupportedModel(f"{model.family} computed no attention that could be seen.")
    return recorder.attention
