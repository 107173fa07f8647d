"""`predict`: what a model decides on its inputs, with the probabilities of its choices."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp

import torch
from torch import Tensor

from headlight.batch import Row, collate
from headlight.models.model import Model, Task
from headlight.running.buckets import buckets
from headlight.running.double import double
from headlight.running.logits import check_finite, check_ids, logits_of
from headlight.running.memory import in_halves
from headlight.running.undisturbed import plain_state, undisturbed
from headlight.target import Target
from headlight.trace.goal import kind_of
from headlight.trace.resolve import RESOLVERS, ResolvedTarget, Unresolved, token_name

LIKELIEST = 5
"""How many choices are listed if there is a whole vocabulary of them."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a model decides on a row.

    resolved: the target that was asked for, on the logits of this row. target: the same, by name.
    choices: names with probabilities; only the most probable if they are tokens of a vocabulary, and none in
    regression.
    """

    row: Row
    resolved: ResolvedTarget
    target: Target
    choices: tuple[tuple[str, float], ...]


def predict(
    model: Model, rows: Sequence[Row], targets: Sequence[Target], batch_size: int = 32
) -> list[Prediction]:
    """The predictions on rows, in their order; each target names what is asked about."""
    logits = logits_by_row(model, rows, batch_size)
    return [predicted(model, *each) for each in zip(rows, targets, logits, strict=True)]


def predicted(
    model: Model, row: Row, target: Target, logits: Tensor, *, is_released: bool = False
) -> Prediction:
    """The prediction in the logits [position, class] of a row; `is_released` as `released` in `goal_of`."""
    resolved = RESOLVERS[model.task](Unresolved(target, model, row, logits, is_released))
    return Prediction(
        row, resolved, explicit(model.task, resolved), tuple(choices(model, resolved, logits))
    )


def logits_by_row(model: Model, rows: Sequence[Row], batch_size: int = 32) -> list[Tensor]:
    """The logits [position, class] of every row, in their order; rows of similar length share a pass."""
    by_row: dict[int, Tensor] = {}
    for bucket in buckets(model, rows, batch_size):
        by_row |= zip(bucket, plain_logits(model, [rows[n] for n in bucket]), strict=True)
    return [by_row[n] for n in range(len(rows))]


def choices(model: Model, resolved: ResolvedTarget, logits: Tensor) -> Iterator[tuple[str, float]]:
    """What the model could have decided, with probabilities."""
    if model.task is Task.REGRESSION:
        return
    if model.task is Task.QUESTION:
        logs = logits.log_softmax(0)
        log_probability = sum(float(logs[t.position, t.index]) for t in resolved.terms)
        yield resolved.label, exp(log_probability)
        return
    classes = logits[resolved.terms[0].position]
    shares = classes.sigmoid() if kind_of(model) == "sigmoid" else classes.softmax(-1)
    if model.task in (Task.MASKED, Task.CAUSAL):
        best = shares.topk(min(LIKELIEST, len(shares)))
        for share, index in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            yield token_name(index, model), share
        return
    for index, share in enumerate(shares.tolist()):
        yield model.labels.get(index, str(index)), share


def plain_logits(model: Model, rows: Sequence[Row]) -> Iterator[Tensor]:
    """The logits [position, class] of each row, from one plain pass."""
    check_ids(model, rows)
    model = double(model)

    def run(part: Sequence[Row]) -> list[Tensor]:
        inputs = collate(part, model.pad_id or 0, model.device)
        logits = undisturbed(
            lambda: logits_of(model, inputs), plain_state(), torch.inference_mode()
        )
        check_finite(logits, model)
        return [logits[number, : len(row)] for number, row in enumerate(part)]

    yield from in_halves(run, rows, len)


def explicit(task: Task, resolved: ResolvedTarget) -> Target:
    """The target that names what was resolved, so that every method explains the same."""
    first = resolved.terms[0]
    if task is Task.REGRESSION:
        return Target()
    if task is Task.QUESTION:
        return Target(span=(first.position, resolved.terms[-1].position))
    if task in (Task.TOKEN, Task.MASKED):
        return Target(label=first.index, position=first.position)
    return Target(label=first.index)
