"""From rows and a plan to attributions: rows of similar length share a pass, and all methods share a trace."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from typing import Any

import numpy as np
import torch
from torch import Tensor

from headlight.amounts import in_words
from headlight.attribution import Attribution, Explained
from headlight.batch import Row
from headlight.errors import InvalidInput, UnstableModel
from headlight.explaining.plan import Plan
from headlight.frozen import FrozenMapping
from headlight.models.model import Model, is_half_precision
from headlight.progress import Advance, progress_of
from headlight.registry.entries import VARIANT, Entry
from headlight.running.allocator import returning_memory
from headlight.running.buckets import buckets
from headlight.running.double import double
from headlight.running.footprint import SHARE, footprint, free_bytes
from headlight.running.memory import in_halves
from headlight.running.precision import MEASURED, STABLE_PRESETS, needed_type, widened
from headlight.running.undisturbed import plain_state, undisturbed
from headlight.shapes import TokenMask
from headlight.target import Target
from headlight.trace.goal import Goal
from headlight.trace.recompute import can_recompute
from headlight.trace.trace import Noted, Trace, traces

RETURNED_FROM = 2_048
"""Tokens of a row from which freed memory is returned at once; in shorter passes that costs too much time."""

PassKind = tuple[torch.dtype, str]
"""The type in which a pass is computed, and the variant of the methods that explain it."""

Answers = dict[str, Attribution]
"""The attributions of one row and target, by method."""


def written_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options that can be written down: a mask, a baseline or a decoder becomes its name."""
    plain = (bool, int, float, str, type(None))

    def written(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return list(map(written, value))
        return value if isinstance(value, plain) else str(value)

    return {name: written(value) for name, value in options.items()}


def run(model: Model, rows: Sequence[Row], targets: Sequence[Target], plan: Plan) -> list[Answers]:
    """The attributions of every row by method name, for one target per row."""
    goals = [(target,) for target in targets]
    return [answers for (answers,) in run_goals(model, rows, goals, plan)]


def run_goals(
    model: Model, rows: Sequence[Row], goals: Sequence[Sequence[Target]], plan: Plan
) -> list[list[Answers]]:
    """The attributions of every row for each of its targets; all targets of a row share a pass."""
    answers: list[list[Answers]] = [[{} for _ in targets] for targets in goals]
    model = double(model)
    parts = by_pass(model, plan)
    total = sum(map(len, goals)) * len(parts)
    with progress_of(
        f"explaining{said_need(model, rows, parts)}", total, is_shown=plan.progress
    ) as advance:
        for (dtype, _), part in parts.items():
            wide, digits = widened(model, dtype)
            part = replace(part, digits=digits)
            for bucket in buckets(wide, rows, plan.batch_size, part.needs, plan.memory):
                by_row = run_bucket(
                    wide, [rows[n] for n in bucket], [goals[n] for n in bucket], part, advance
                )
                for number, by_target in zip(bucket, by_row, strict=True):
                    for known, answer in zip(answers[number], by_target, strict=True):
                        known.update(answer if wide is model else rounded(answer))
    names = [entry.name for entry in plan.entries]
    return [[{name: known[name] for name in names} for known in row] for row in answers]


def said_need(model: Model, rows: Sequence[Row], parts: Mapping[PassKind, Plan]) -> str:
    """How much memory the longest row will take, in words, if it is much; else ''."""
    longest, own = max(map(len, rows), default=0), model.network.dtype.itemsize
    needed = max(
        footprint(model, part.needs).of(longest) * dtype.itemsize / own
        for (dtype, _), part in parts.items()
    )
    return f" (about {in_words(needed)} for the longest)" if needed > 2**30 else ""


def rounded(answers: Answers) -> Answers:
    """Scores of a wider pass in 32 bits, like those of all other methods."""
    return {name: replace(a, scores=a.scores.astype(np.float32)) for name, a in answers.items()}


def by_pass(model: Model, plan: Plan) -> dict[PassKind, Plan]:
    """The plan in parts that share a pass: by the type in which their methods are accurate, and by variant.

    So the scores of a method do not depend on which others are asked for. Released variants are computed in the
    network's own type, as their authors do, and predict answers in their own way.
    """
    parts: dict[PassKind, tuple[Entry, ...]] = {}
    for entry in plan.entries:
        is_own = entry.computing is entry.released
        preset = entry.preset_with(entry.settled)
        dtype = model.network.dtype if is_own else needed_type(model, entry.needs, preset)
        kind = (dtype, entry.variant)
        parts[kind] = (*parts.get(kind, ()), entry)
    return {kind: plan.only(*entries) for kind, entries in parts.items()}


def run_bucket(
    model: Model,
    rows: Sequence[Row],
    goals: Sequence[Sequence[Target]],
    plan: Plan,
    advance: Advance,
) -> list[list[Answers]]:
    """The attributions from one pass, or from passes of half the size if it does not fit into memory."""
    longest = max(map(len, rows))
    recomputes = must_recompute(model, longest, plan)

    def run(part: Sequence[tuple[Row, Sequence[Target]]]) -> list[list[Answers]]:
        part_rows, part_goals = map(list, zip(*part, strict=True))
        work = partial(run_pass, model, part_rows, part_goals, plan, advance, recomputes=recomputes)
        returning = returning_memory() if longest >= RETURNED_FROM else nullcontext()
        return undisturbed(work, plain_state(), returning)

    return in_halves(run, list(zip(rows, goals, strict=True)), lambda pair: len(pair[0]))


def must_recompute(model: Model, tokens: int, plan: Plan) -> bool:
    """Whether a row fits into memory only if blocks are computed again on the way back; refused if not then."""
    free = free_bytes(model.device) if plan.memory is None else None
    bound = plan.memory if free is None else int(SHARE * free)
    needed = footprint(model, plan.needs).of(tokens)
    if bound is None or needed <= bound:
        return False
    if can_recompute(model, plan.needs):
        needed = footprint(model, plan.needs, recomputes=True).of(tokens)
        if needed <= bound:
            return True
    names = ", ".join(entry.name for entry in plan.entries)
    where = "are free" if plan.memory is None else "are allowed (memory=)"
    raise InvalidInput(
        f"{names} on {tokens} tokens of {model.name} would take about {in_words(needed)} above the weights, "
        f"and {in_words(bound)} {where}. Give a shorter text, explain it in windows (stride=), or use a method "
        "that needs less, such as attn_lrp or input_x_gradient."
    )


def run_pass(
    model: Model,
    rows: list[Row],
    goals: list[Sequence[Target]],
    plan: Plan,
    advance: Advance,
    *,
    recomputes: bool = False,
) -> list[list[Answers]]:
    """One pass, a trace of it for every target, and every method on each trace."""
    answers: list[list[Answers]] = [[] for _ in rows]
    most = max(map(len, goals))
    # A row with fewer targets than others repeats its last one; the repeated answers are dropped.
    asked = [[own[min(number, len(own) - 1)] for own in goals] for number in range(most)]
    passes = traces(
        model, rows, asked, plan.needs, released=plan.is_released, recomputes=recomputes
    )
    for number, captured in enumerate(passes):
        for row, answer in enumerate(explained(captured, rows, plan)):
            if number < len(goals[row]):
                answers[row].append(answer)
        advance(sum(number < len(own) for own in goals))
    return answers


def explained(captured: Trace, rows: Sequence[Row], plan: Plan) -> list[Answers]:
    """The attributions of every row of a trace, by method."""
    model, present = captured.forward.model, captured.inputs.present
    what = explained_targets(captured.goal, captured.logits, present)
    answers: list[Answers] = [{} for _ in rows]
    for entry in plan.entries:
        scores, notes = computed(captured, entry)
        digits = plan.digits or lost_digits(model, entry)
        for number, row in enumerate(rows):
            row_scores = scores[number, : len(row)]
            chosen = captured.goal.resolved[number].note
            noted = row.noted(*filter(None, (chosen, notes[number], digits, emptiness(row_scores))))
            answers[number][entry.name] = attribution_of(
                model, noted, row_scores, what[number], entry, plan
            )
    return answers


def computed(captured: Trace, entry: Entry) -> tuple[np.ndarray, Sequence[str]]:
    """The scores of a method [batch, token], and its note on each row; refused if they are not finite."""
    answer = entry.computing(captured, **entry.settled)
    notes = answer.notes if isinstance(answer, Noted) else ("",) * len(captured.inputs.ids)
    scores = (answer.scores if isinstance(answer, Noted) else answer).cpu().numpy()
    if not np.isfinite(scores).all():
        raise UnstableModel(
            f"method '{entry.name}' gives NaN or infinite scores on {captured.forward.model.name}: its "
            "gradients overflow. Load the model with dtype=torch.float32."
        )
    return scores, notes


def lost_digits(model: Model, entry: Entry) -> str:
    """A note if scores are computed in 16 bits, or relevance in fewer than its rules need, else ''."""
    is_stable = entry.preset_with(entry.settled) in STABLE_PRESETS
    kind = str(model.network.dtype).removeprefix("torch.")
    if is_stable and is_half_precision(model.network):
        return f"computed in {kind}: {MEASURED[model.network.dtype]}; use float32 for exact scores"
    if is_stable or model.network.dtype == torch.float64:
        return ""
    return f"computed in {kind}, as released: one to three digits are right"


def emptiness(scores: np.ndarray) -> str:
    """A note if all scores are equal, else ''."""
    if len(scores) < 2 or np.ptp(scores) > 0:
        return ""
    return f"all scores are {'0' if scores[0] == 0 else 'equal'}: this method says nothing here"


def explained_targets(goal: Goal, all_logits: Tensor, present: TokenMask) -> list[Explained]:
    """What was explained in every row of a batch, by its logits: its names and numbers."""
    logits = goal.value(all_logits, present, "logit").tolist()
    probabilities: list[float | None] = [None] * len(logits)
    logs: list[tuple[float, ...]] = [()] * len(logits)
    if goal.has_probability:
        # A product of many probabilities needs 64 bits.
        wide = all_logits.double() if any(goal.are_joint) else all_logits
        probabilities = goal.value(wide, present, "probability").tolist()
        if any(goal.are_joint):
            logs = [tuple(row) for row in goal.term_log_probabilities(wide, present).tolist()]
    return [
        Explained(
            label=resolved.label,
            predicted=resolved.predicted,
            logit=logits[n],
            probability=probabilities[n],
            positions=resolved.positions,
            output=goal.outputs[n],
            token_log_probabilities=logs[n][: len(resolved.terms)] if goal.are_joint[n] else (),
        )
        for n, resolved in enumerate(goal.resolved)
    ]


def attribution_of(
    model: Model, row: Row, scores: np.ndarray, target: Explained, entry: Entry, plan: Plan
) -> Attribution:
    """The attribution of one row by one method."""
    notes = (*row.notes, plan.note) if plan.note else row.notes
    found = Attribution(
        tokens=row.tokens,
        scores=scores,
        target=target,
        method=entry.name,
        model=model.name,
        signed=entry.signed,
        is_special=row.is_special,
        is_sink=sinks_of(model, row),
        texts=row.texts,
        offsets=row.offsets,
        segments=row.segments,
        word_ids=row.word_ids,
        options={VARIANT: entry.variant, **written_options(entry.settled)},
        versions=installed_versions(),
        notes=notes,
    )
    held = found.held_outside
    return replace(found, notes=(*notes, held)) if held else found


def sinks_of(model: Model, row: Row) -> tuple[bool, ...]:
    """Where attention rests when it finds nothing: the first token, if tokens look back only."""
    first = row.attended.index(True) if model.is_causal and any(row.attended) else -1
    return tuple(place == first for place in range(len(row)))


@cache
def installed_versions() -> Mapping[str, str]:
    """Versions of the packages that compute the scores; looked up once, because that reads files."""
    return FrozenMapping({name: version(name) for name in ("headlight", "torch", "transformers")})
