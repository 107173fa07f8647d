"""Texts longer than the model's limit, explained in overlapping windows and merged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from headlight.attribution import Attribution
from headlight.batch import Row, windows
from headlight.errors import InvalidOption
from headlight.explaining.batches import run
from headlight.explaining.plan import Plan
from headlight.methods import METHODS
from headlight.models.model import POOLED, Model, Task
from headlight.running.buckets import buckets
from headlight.target import Target
from headlight.trace.resolve import find_answer
from headlight.trace.trace import trace


@dataclass(frozen=True)
class ChosenWindows:
    """The windows of one row that are explained, the target, and the prediction for the whole row."""

    windows: tuple[int, ...]
    target: Target
    predicted: str | None = None


def run_windows(
    model: Model, rows: Sequence[Row], targets: Sequence[Target], plan: Plan, stride: int
) -> list[dict[str, Attribution]]:
    """Like `run`, but with long rows in overlapping windows whose scores are averaged token by token.

    A classifier is explained for the same label in all windows: the one asked for, or the one with the largest
    mean logit. For a question only one window is explained, the one with the best answer or the answer asked
    for; tokens outside it get 0.
    """
    if model.task not in (*POOLED, Task.QUESTION):
        raise InvalidOption(
            f"stride= is for classifiers and question answering, not for {model.task}."
        )
    limit = model.token_limit or max(len(row) for row in rows)
    places = [windows(row, limit, stride) for row in rows]
    choose = chosen_for_question if model.task is Task.QUESTION else chosen_for_label
    choices = [
        ChosenWindows((0,), target) if len(place) == 1 else choose(model, row, place, target, plan)
        for row, place, target in zip(rows, places, targets, strict=True)
    ]
    jobs = [(n, w) for n, choice in enumerate(choices) for w in choice.windows]
    by_window = run(
        model,
        [rows[n].take(places[n][w]) for n, w in jobs],
        [choices[n].target for n, _ in jobs],
        plan,
    )
    answers: list[dict[str, Attribution]] = []
    for n, row in enumerate(rows):
        parts = [
            (places[n][w], answer) for (m, w), answer in zip(jobs, by_window, strict=True) if m == n
        ]
        note = f"explained in {len(places[n])} windows that share {stride} tokens"
        is_whole = len(places[n]) == 1
        answers.append(parts[0][1] if is_whole else merged(row, parts, choices[n].predicted, note))
    return answers


def chosen_for_label(
    model: Model, row: Row, places: list[list[int]], target: Target, plan: Plan
) -> ChosenWindows:
    """All windows, with the label asked for or the one with the largest mean logit."""
    pieces = [row.take(place) for place in places]
    passes = [
        trace(model, [pieces[n] for n in bucket], [Target()] * len(bucket), ()).logits[:, 0]
        for bucket in buckets(model, pieces, plan.batch_size, (), plan.memory)
    ]
    means = torch.cat(passes).mean(0)
    best = 0 if model.task is Task.REGRESSION else int(means.argmax())
    label = best if target.label is None else target.label
    name = model.labels.get(best, str(best))
    return ChosenWindows(tuple(range(len(places))), replace(target, label=label), name)


def chosen_for_question(
    model: Model, row: Row, places: list[list[int]], target: Target, plan: Plan
) -> ChosenWindows:
    """The window with the best answer; for an answer that a caller names, the one with most text around it."""
    # `random` needs nothing from the trace, so this only reads the best answer of each window.
    glance = replace(plan, entries=(METHODS["random"],), progress=False)
    pieces = [row.take(place) for place in places]
    looks = [look["random"].target for look in run(model, pieces, [Target()] * len(pieces), glance)]
    best = int(np.argmax([look.logit for look in looks]))
    span = target.span
    if isinstance(target.label, str) and target.label not in ("start", "end"):
        span = find_answer(target.label, row)
    if span is None:
        return ChosenWindows((best,), target, looks[best].predicted)
    holding = [
        w for w, place in enumerate(places) if set(range(span[0], span[1] + 1)) <= set(place)
    ]
    if not holding:
        raise InvalidOption(
            f"the answer at tokens {span[0]} to {span[1]} does not fit into one window. "
            "Use a larger stride, or a shorter answer."
        )
    window = max(holding, key=lambda w: text_around(places, w, span))
    inside = (places[window].index(span[0]), places[window].index(span[1]))
    return ChosenWindows((window,), replace(target, label=None, span=inside), looks[best].predicted)


def text_around(places: list[list[int]], window: int, span: tuple[int, int]) -> int:
    """How many tokens of text a window has before an answer or after it, whichever is fewer."""
    # All windows begin and end with the same tokens: the question and the special tokens.
    first, second = places[0], places[1]
    before = next(
        n for n, pair in enumerate(zip(first, second, strict=False)) if pair[0] != pair[1]
    )
    after = next(
        n
        for n, pair in enumerate(zip(first[::-1], second[::-1], strict=False))
        if pair[0] != pair[1]
    )
    own = places[window]
    return min(own.index(span[0]) - before, len(own) - 1 - own.index(span[1]) - after)


def merged(
    row: Row,
    parts: list[tuple[list[int], dict[str, Attribution]]],
    predicted: str | None,
    note: str,
) -> dict[str, Attribution]:
    """One attribution of the whole row from those of its windows."""
    answers = {}
    for name, first in parts[0][1].items():
        sums, counts = np.zeros(len(row)), np.zeros(len(row))
        sinks = np.zeros(len(row), bool)
        for places, by_method in parts:
            sums[places] += by_method[name].scores
            counts[places] += 1
            sinks[places] |= by_method[name].is_sink
        targets = [by_method[name].target for _, by_method in parts]
        notes = dict.fromkeys(
            text
            for _, by_method in parts
            for text in by_method[name].notes
            if text != by_method[name].held_outside
        )
        chances = [t.probability for t in targets if t.probability is not None]
        positions = tuple(parts[0][0][p] for p in targets[0].positions or ())
        whole = replace(
            first,
            tokens=row.tokens,
            scores=sums / np.maximum(counts, 1),
            is_special=row.is_special,
            is_sink=tuple(sinks.tolist()),
            offsets=row.offsets,
            segments=row.segments,
            word_ids=row.word_ids,
            target=replace(
                targets[0],
                predicted=predicted or targets[0].predicted,
                logit=float(np.mean([t.logit for t in targets])),
                probability=float(np.mean(chances)) if chances else None,
                positions=positions if len(parts) == 1 else None,
            ),
        )
        said = note if len(parts) > 1 else f"{note}; only one of them is scored"
        answers[name] = replace(
            whole, notes=tuple(filter(None, (*notes, said, whole.held_outside)))
        )
    return answers
