"""How much relevance is left at every block boundary; 1 everywhere if a preset conserves it."""

from collections.abc import Sequence

import torch
from torch import Tensor

from headlight.batch import Row
from headlight.errors import InvalidInput
from headlight.explaining.inputs import Given, read, targets_of
from headlight.models.model import Model
from headlight.models.reading import cut_to_limit
from headlight.running.precision import widened
from headlight.target import Target, TargetLike
from headlight.trace.relevance.modifications import MODIFICATIONS
from headlight.trace.relevance.presets import PRESETS
from headlight.trace.relevance.sweep import Flow
from headlight.trace.trace import trace


def conservation(
    model: Model, text: Given, target: TargetLike = None, *, preset: str = "chefer"
) -> list[float]:
    """Σ R at the output of the last block, of the one before it, … and at the embeddings.

    The sums are shares of the relevance with which the explained logits started. `preset` names rules for
    sending relevance, or a modified gradient whose relevance is state × gradient: cp_lrp, libragrad, gim.
    """
    asked = read(model, text)
    if not asked.is_one:
        raise InvalidInput("conservation is measured for one text. Give one, not several.")
    rows = [cut_to_limit(model, row) for row in asked.rows]
    sums = relevance_sums if preset in PRESETS or preset not in MODIFICATIONS else modified_sums
    return sums(model, rows, targets_of(target, 1), preset)[0]


def relevance_sums(
    model: Model, rows: Sequence[Row], targets: Sequence[Target], preset: str
) -> list[list[float]]:
    """The same for several rows in one pass."""
    wide, _ = widened(model, torch.float64)
    captured = trace(wide, rows, targets, {"relevance"})
    start = captured.goal.signs.abs().sum(1)
    return shares(captured.relevance(Flow(preset)).hidden, start)


def modified_sums(
    model: Model, rows: Sequence[Row], targets: Sequence[Target], modification: str
) -> list[list[float]]:
    """The same for a modified gradient, whose relevance is h ⊙ ∇̃f and starts as the explained value f."""
    captured = trace(model, rows, targets, {"modified_gradient", "hidden"})
    start = captured.goal.value(captured.logits, captured.inputs.present, "logit")
    gradients = captured.gradients("logit", MODIFICATIONS[modification]).hidden
    return shares(
        [h.double() * g.double() for h, g in zip(captured.hidden, gradients, strict=True)],
        start.double(),
    )


def shares(states: Sequence[Tensor], start: Tensor) -> list[list[float]]:
    """The sum of relevance at every boundary of each row, from the output down, over that at the start."""
    sums = torch.stack([relevance.sum((1, 2)) / start for relevance in reversed(states)], 1)
    return [[float(value) for value in row] for row in sums]
