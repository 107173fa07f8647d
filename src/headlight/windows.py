"""Texts longer than the model's limit, explained in overlapping windows and merged."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import torch

from headlight.attribution import Attribution
from headlight.batch import Row, windows
from headlight.errors import InvalidOption
from headlight.methods import METHODS
from headlight.models.model import POOLED, Model, Task
from headlight.passes import Plan, buckets, run
from headlight.target import Target
from headlight.trace.trace import trace


def run_windows(
    model: Model, rows: Sequence[Row], targets: Sequence[Target], plan: Plan, stride: int
) -> list[dict[str, Attribution]]:
    """Like `run`, long rows in overlapping windows whose scores are averaged token by token.

    A classifier is explained for one label everywhere: the one asked for, or the one with the largest
    mean logit. Of a question only the window with the best answer is explained; tokens outside it get 0.
    """
    if model.task not in (*POOLED, Task.QUESTION):
        raise InvalidOption(
            f"stride= is for classifiers and question answering, not for {model.task}."
        )
    if stride < 0:
        raise InvalidOption(f"stride={stride} is not possible. Use 0 or more shared tokens.")
    limit = model.token_limit or max(len(row) for row in rows)
    places = [windows(row, limit, stride) for row in rows]
    pieces = [[row.take(p) for p in found] for row, found in zip(rows, places, strict=True)]
    settled = [
        settled_windows(model, piece, target, plan) if len(piece) > 1 else [(0, target)]
        for piece, target in zip(pieces, targets, strict=True)
    ]
    jobs = [(n, w, target) for n, chosen in enumerate(settled) for w, target in chosen]
    found = run(model, [pieces[n][w] for n, w, _ in jobs], [target for *_, target in jobs], plan)
    answers = []
    for n, row in enumerate(rows):
        mine = [
            (places[n][w], answer) for (m, w, _), answer in zip(jobs, found, strict=True) if m == n
        ]
        answers.append(merged(row, mine, len(places[n]), stride))
    return answers


def settled_windows(
    model: Model, pieces: list[Row], target: Target, plan: Plan
) -> list[tuple[int, Target]]:
    """Which windows to explain, and for which label."""
    if model.task is Task.QUESTION:
        glance = replace(plan, entries=(METHODS["random"],), options={}, progress=False)
        looks = run(model, pieces, [replace(target, output="logit")] * len(pieces), glance)
        return [(int(np.argmax([look["random"].target.logit for look in looks])), target)]
    if target.label is None:
        passes = [
            trace(model, [pieces[n] for n in bucket], [Target()] * len(bucket), ()).logits[:, 0]
            for bucket in buckets(model, pieces, plan.batch_size)
        ]
        target = replace(target, label=int(torch.cat(passes).mean(0).argmax()))
    return [(w, target) for w in range(len(pieces))]


def merged(
    row: Row,
    parts: Iterable[tuple[list[int], dict[str, Attribution]]],
    window_count: int,
    stride: int,
) -> dict[str, Attribution]:
    """One attribution of the whole row from those of its windows."""
    parts = list(parts)
    if window_count == 1:
        return parts[0][1]
    answers = {}
    for name, first in parts[0][1].items():
        sums, counts = np.zeros(len(row)), np.zeros(len(row))
        for places, found in parts:
            sums[places] += found[name].scores
            counts[places] += 1
        targets = [found[name].target for _, found in parts]
        chances = [t.probability for t in targets if t.probability is not None]
        note = f"explained in {window_count} windows that share {stride} tokens"
        answers[name] = replace(
            first,
            tokens=row.tokens,
            scores=sums / np.maximum(counts, 1),
            is_special=row.is_special,
            offsets=row.offsets,
            segments=row.segments,
            word_ids=row.word_ids,
            target=replace(
                targets[0],
                logit=float(np.mean([t.logit for t in targets])),
                probability=float(np.mean(chances)) if chances else None,
                positions=None,
            ),
            notes=(*row.notes, note if len(parts) > 1 else f"{note}; only the best one is scored"),
        )
    return answers
