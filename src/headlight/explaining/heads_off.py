"""`ablate` and `ablate_each`: decisions with attention heads switched off in the pass."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from headlight.ablated import Ablated, AblatedText, HeadEffects
from headlight.attribution import Explained
from headlight.batch import Inputs, Row, collate, plain
from headlight.errors import InvalidInput, InvalidOption
from headlight.explaining.batches import explained_targets
from headlight.explaining.inputs import Given, read, targets_of, whole_number
from headlight.headmask import HeadMask
from headlight.heads.masks import chosen_mask
from headlight.models.model import Model, Task
from headlight.models.reading import cut_to_limit
from headlight.progress import progress_of
from headlight.running.buckets import buckets
from headlight.running.double import double
from headlight.running.logits import check_ids
from headlight.running.memory import in_halves
from headlight.shapes import Heads
from headlight.target import Target, TargetLike
from headlight.trace.goal import goal_from, goal_of
from headlight.trace.resolve import RESOLVERS, ResolvedTarget, Unresolved
from headlight.trace.switched_pass import head_counts, logits_without
from headlight.trace.trace import read_by

HeadsLike = HeadMask | str | Path | Sequence[tuple[int, int]] | NDArray[Any] | Tensor
"""Heads: a mask, its name or file, pairs (layer, head) counted from 1, or zeros and ones [layer, head]."""

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Decided:
    """A row, its target, and what the whole network decides on it."""

    row: Row
    target: Target
    resolved: ResolvedTarget
    said: Explained


def ablate(
    model: Model,
    inputs: Given,
    heads: HeadsLike,
    target: TargetLike | list[TargetLike] = None,
    *,
    batch_size: int = 32,
) -> Ablated:
    """What the model decides with some attention heads switched off, beside what it decides with all of them.

    A head that is off adds nothing to the output of its block: Σ_j A_ij v_j = 0 before the layer that joins the
    heads, whose bias stays (zero ablation; Michel et al. 2019). The network itself is not changed.

    inputs, target: as in `explain`. By default the label is the one that the whole network predicts.
    heads: those to switch off: a HeadMask (`~mask` for all others), 'syntactic', 'positional' or 'both' for
        those of the model's own mask, a mask file, a list of pairs (layer, head) counted from 1, or an array
        of zeros and ones [layer, head].
    """
    mask = chosen_heads(model, heads)
    model = double(model)
    texts = decided(model, inputs, target, batch_size)
    after = decided_without(model, texts, [mask.heads] * len(texts), batch_size)
    rows = [
        AblatedText(
            text.row.texts or (" ".join(text.row.tokens),),
            text.said,
            said,
            text.row.noted(*filter(None, [text.resolved.note])).notes,
        )
        for text, said in zip(texts, after, strict=True)
    ]
    return Ablated(tuple(rows), mask, model.name)


def ablate_each(
    model: Model,
    inputs: Given,
    target: TargetLike | list[TargetLike] = None,
    *,
    batch_size: int = 32,
    progress: bool = False,
) -> HeadEffects:
    """What each attention head does to the decision: the change when it alone is switched off (see `ablate`).

    A text is read once per head, many heads in one pass.
    """
    layers, heads = head_counts(model)
    model = double(model)
    texts = decided(model, inputs, target, batch_size)
    single = torch.eye(layers * heads, dtype=torch.bool).view(-1, layers, heads)
    found = []
    with progress_of("switching heads off", len(texts), is_shown=progress) as advance:
        for text in texts:
            found.append(decided_without(model, [text] * len(single), list(single), batch_size))
            advance(1)

    def shaped(value: Callable[[Explained, Explained], float | bool]) -> NDArray[Any]:
        pairs = zip(texts, found, strict=True)
        changes = [[value(text.said, said) for said in after] for text, after in pairs]
        return np.array(changes).reshape(len(texts), layers, heads)

    has_probability = texts[0].said.probability is not None
    return HeadEffects(
        texts=tuple(text.row.texts or (" ".join(text.row.tokens),) for text in texts),
        before=tuple(text.said for text in texts),
        logits=shaped(lambda before, after: after.logit - before.logit),
        probabilities=shaped(probability_change) if has_probability else None,
        decided_otherwise=shaped(lambda before, after: after.predicted != before.predicted),
        model=model.name,
    )


def probability_change(before: Explained, after: Explained) -> float:
    """How much a probability changes."""
    assert before.probability is not None
    assert after.probability is not None
    return after.probability - before.probability


# --------------------------------------------------------------------------------------- heads


def chosen_heads(model: Model, heads: HeadsLike) -> HeadMask:
    """The heads to switch off, as a mask of the model's shape."""
    layers, count = head_counts(model)
    if isinstance(heads, list | tuple):
        return HeadMask.at(map(pair_of, heads), layers, count)
    mask = chosen_mask(model, heads)
    if mask.heads.shape != (layers, count):
        raise InvalidInput(
            f"the heads are given for {mask.heads.shape[0]} layers with {mask.heads.shape[1]} heads each, and "
            f"{model.name} has {layers} with {count}. Give them for this network."
        )
    return mask


def pair_of(given: Any) -> tuple[int, int]:
    """A layer and a head."""
    numbers = plain(given)
    is_pair = isinstance(numbers, list) and [type(number) for number in numbers] == [int, int]
    if not is_pair:
        raise InvalidOption(
            f"{given!r} is not a head. Give pairs (layer, head) counted from 1, such as [(3, 4), (5, 1)]; "
            "zeros and ones [layer, head] are given as an array."
        )
    return numbers[0], numbers[1]


# -------------------------------------------------------------------------------------- passes


def decided(
    model: Model, inputs: Given, target: TargetLike | list[TargetLike], batch_size: int
) -> list[Decided]:
    """What the whole network decides on every input, from the same kind of pass as without heads."""
    rows = [cut_to_limit(model, row) for row in read(model, inputs).rows]
    targets = targets_of(target, len(rows))
    nothing = torch.zeros(head_counts(model), dtype=torch.bool)

    def run(part: Sequence[int]) -> list[Decided]:
        some, asked = [rows[n] for n in part], [targets[n] for n in part]
        given, logits = run_pass(model, some, asked, [nothing] * len(part))
        goal = goal_of(asked, model, some, given, logits)
        said = explained_targets(goal, logits, given.present)
        return [Decided(*each) for each in zip(some, asked, goal.resolved, said, strict=True)]

    return in_passes(model, rows, batch_size, run)


def decided_without(
    model: Model, texts: Sequence[Decided], off: Sequence[Heads], batch_size: int
) -> list[Explained]:
    """What the network decides on each text without its heads: about the same label, at the same tokens."""
    rows = [text.row for text in texts]

    def run(part: Sequence[int]) -> list[Explained]:
        some = [texts[n] for n in part]
        asked = [pinned(model.task, text) for text in some]
        given, logits = run_pass(model, [rows[n] for n in part], asked, [off[n] for n in part])
        goal = goal_from(
            [text.resolved for text in some],
            model,
            given,
            logits,
            tuple(text.target.output for text in some),
            tuple(text.target.span is not None for text in some),
        )
        said = explained_targets(goal, logits, given.present)
        resolve = RESOLVERS[model.task]
        now = [
            resolve(Unresolved(target, model, text.row, own[: len(text.row)], False, given.read))
            for target, text, own in zip(asked, some, logits, strict=True)
        ]
        return [
            replace(each, predicted=found.predicted) for each, found in zip(said, now, strict=True)
        ]

    return in_passes(model, rows, batch_size, run)


def pinned(task: Task, text: Decided) -> Target:
    """The target at the token that was chosen for it, where a head decides at every token."""
    is_open = text.target.position is None and text.target.word is None
    if task in (Task.TOKEN, Task.MASKED) and is_open:
        return replace(text.target, position=text.resolved.terms[0].position)
    return text.target


def run_pass(
    model: Model, rows: Sequence[Row], targets: Sequence[Target], off: Sequence[Heads]
) -> tuple[Inputs, Tensor]:
    """One pass with each row's heads off: what the network was given, and its logits."""
    check_ids(model, rows)
    inputs = replace(
        collate(rows, model.pad_id or 0, model.device), read=read_by(model, rows, [targets])
    )
    return inputs, logits_without(model, inputs, torch.stack(list(off)))


def in_passes(
    model: Model,
    rows: Sequence[Row],
    batch_size: int,
    run: Callable[[Sequence[int]], Sequence[Result]],
) -> list[Result]:
    """What `run` makes of every row, by number and in order; rows of similar length share a pass."""
    found: dict[int, Result] = {}
    for bucket in buckets(model, rows, whole_number(batch_size, "batch_size", 1)):
        found |= zip(bucket, in_halves(run, bucket, lambda n: len(rows[n])), strict=True)
    return [found[n] for n in range(len(rows))]
