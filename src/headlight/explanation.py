"""`explain`: encode → trace → methods → Attribution, batched, in the caller's order."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, overload

import numpy as np
import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from headlight.attribution import Attribution, Explained, Generation
from headlight.batch import Batch, Row, Text, described, encode, shortened, windows, without_padding
from headlight.errors import InvalidInput, InvalidOption, UnstableModel
from headlight.methods import METHODS
from headlight.models.model import POOLED, Model, Task, is_half_precision
from headlight.registry import Entry
from headlight.target import Target, TargetLike
from headlight.trace.capture import NETWORK_LOCK, evaluating
from headlight.trace.trace import Trace, trace

DEFAULT_METHOD = "attcat"
ATTENTION_VALUES = 2**28
"""Most attention weights of all layers that one pass may hold (1 GiB in 32 bits)."""


@dataclass(frozen=True)
class Plan:
    """What to compute for every row."""

    entries: tuple[Entry, ...]
    variant: str = "paper"
    options: Mapping[str, Any] = field(default_factory=dict)
    batch_size: int = 32
    progress: bool = False

    @property
    def needs(self) -> set[str]:
        """The union of what the methods need of the trace."""
        return {need for entry in self.entries for need in entry.needs}


@overload
def explain(
    model: Model,
    inputs: str | tuple[str, str],
    method: str = ...,
    target: TargetLike = ...,
    **options: Any,
) -> Attribution: ...
@overload
def explain(
    model: Model,
    inputs: list[Text],
    method: str = ...,
    target: TargetLike | list[TargetLike] = ...,
    **options: Any,
) -> list[Attribution]: ...
@overload
def explain(
    model: Model,
    inputs: list[Text],
    method: list[str],
    target: TargetLike | list[TargetLike] = ...,
    **options: Any,
) -> dict[str, list[Attribution]]: ...
@overload
def explain(
    model: Model,
    inputs: Text | list[Text] | Batch,
    method: str | list[str] = ...,
    target: TargetLike | list[TargetLike] = ...,
    **options: Any,
) -> Any: ...


def explain(
    model: Model,
    inputs: Text | list[Text] | Batch,
    method: str | list[str] = DEFAULT_METHOD,
    target: TargetLike | list[TargetLike] = None,
    *,
    variant: str = "paper",
    batch_size: int = 32,
    stride: int | None = None,
    progress: bool = False,
    **options: Any,
) -> Any:
    """Explain why the model decides what it decides on one input or many.

    inputs: a text, a pair of texts, a list of these, or a `Batch`. One input gives one Attribution,
        several a list in the same order.
    method: a name of METHODS, or several; several give a dict by method name.
    target: what is explained (see `Target`); a list gives each input its own.
    variant: 'paper', or 'released' for what the authors' published code computes.
    stride: explain texts longer than the model's limit in windows that share this many tokens;
        without it they are cut, and the attribution says so.
    options: options of the methods, such as `seed`.
    """
    if not isinstance(model, Model):
        raise InvalidInput(
            f"explain() takes a headlight model first, not a {type(model).__name__}. "
            "Make one with headlight.wrap(network, tokenizer) or headlight.load(name)."
        )
    plan = planned(method, variant, options, batch_size, progress)
    is_one = isinstance(inputs, str | tuple) or (isinstance(inputs, Batch) and len(inputs) == 1)
    rows = rows_of(model, inputs)
    targets = targets_of(target, len(rows))
    if stride is None:
        found = run(model, [fitted(model, row) for row in rows], targets, plan)
    else:
        found = run_windows(model, rows, targets, plan, stride)
    answers = {e.name: [row[e.name] for row in found] for e in plan.entries}
    shaped = {name: each[0] if is_one else each for name, each in answers.items()}
    return next(iter(shaped.values())) if isinstance(method, str) else shaped


def explain_generation(
    model: Model,
    prompt: str,
    method: str = DEFAULT_METHOD,
    *,
    continuation: str | None = None,
    max_new_tokens: int = 20,
    variant: str = "paper",
    batch_size: int = 32,
    progress: bool = False,
    **options: Any,
) -> Generation:
    """Explain every token of a continuation of the prompt: a matrix of input × output tokens.

    The continuation is the one given, or what the model itself would write (greedily).
    """
    if model.task is not Task.CAUSAL or model.tokenizer is None:
        raise InvalidInput(
            f"only a causal language model with a tokenizer continues a text; {model.name} does {model.task}."
        )
    plan = planned(method, variant, options, batch_size, progress)
    row = rows_of(model, prompt)[0]
    if continuation is None:
        added = generate(model, row, max_new_tokens)
    else:
        added = model.tokenizer(continuation, add_special_tokens=False)["input_ids"]
    if not added:
        raise InvalidInput("the continuation has no token: there is nothing to explain.")
    ids = [*row.ids, *added]
    model.check_row_length(0, len(ids) - 1)
    steps = [Batch.from_ids(ids[: len(row) + k]).rows[0] for k in range(len(added))]
    steps = [described(step, model.tokenizer) for step in steps]
    found = run(model, steps, [Target(label=token) for token in added], plan)
    names = described(Batch.from_ids(ids).rows[0], model.tokenizer).tokens
    return Generation(
        prompt=names[: len(row)],
        output=names[len(row) :],
        attributions=tuple(answer[plan.entries[0].name] for answer in found),
    )


def generate(model: Model, row: Row, max_new_tokens: int) -> list[int]:
    """The ids the model itself would write after the row."""
    ids = torch.tensor([row.ids], device=model.network.device)
    with NETWORK_LOCK, evaluating(model.network), torch.no_grad():
        written = model.network.generate(  # type: ignore[operator]
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=max_new_tokens,
            do_sample=False,
            pad_token_id=model.pad_id or 0,
        )
    return [int(token) for token in written[0, len(row) :]]


# ---------------------------------------------------------------------------------- planning


def planned(
    method: str | list[str],
    variant: str,
    options: Mapping[str, Any],
    batch_size: int,
    progress: bool,
) -> Plan:
    """A plan, once every name and option in it is known to exist."""
    names = [method] if isinstance(method, str) else list(method)
    if not names:
        raise InvalidOption("method=[] asks for nothing. Give a name or a list of names.")
    if batch_size < 1:
        raise InvalidOption(f"batch_size={batch_size} is not possible. Use 1 or more.")
    entries = tuple({METHODS[name].name: METHODS[name] for name in names}.values())
    for entry in entries:
        entry.variant(variant)
        for name in options:
            if name not in entry.options:
                has = ", ".join(sorted(entry.options)) or "no options of its own"
                raise InvalidOption(f"method '{entry.name}' has no option '{name}'. It has: {has}.")
    return Plan(entries, variant, options, batch_size, progress)


def rows_of(model: Model, inputs: Text | list[Text] | Batch) -> list[Row]:
    """The rows of any input, whole."""
    if isinstance(inputs, Batch):
        rows = [without_padding(row, model.pad_id) for row in inputs.rows]
        for number, row in enumerate(rows):
            model.check_row_length(number, len(row))
        return (
            rows if model.tokenizer is None else [described(row, model.tokenizer) for row in rows]
        )
    if model.tokenizer is None:
        raise InvalidInput(
            f"{model.name} was wrapped without a tokenizer, so it cannot read text. "
            "Give headlight.wrap a tokenizer, or explain a headlight.Batch.from_ids(…)."
        )
    texts = [inputs] if isinstance(inputs, str | tuple) else list(inputs)
    if not texts:
        raise InvalidInput("the list of texts is empty: there is nothing to explain.")
    if model.task is Task.QUESTION and not all(isinstance(text, tuple) for text in texts):
        raise InvalidInput(
            "question answering needs a question and a context. Give a tuple: (question, context)."
        )
    return encode(texts, model.tokenizer)


def targets_of(target: TargetLike | list[TargetLike], count: int) -> list[Target]:
    """One target for each row."""
    if not isinstance(target, list):
        return [Target.of(target)] * count
    if len(target) != count:
        raise InvalidOption(
            f"{len(target)} targets were given for {count} inputs. Give one for each."
        )
    return [Target.of(each) for each in target]


def fitted(model: Model, row: Row) -> Row:
    """The row, cut to what the model can read."""
    if model.token_limit is None:
        return row
    return shortened(row, model.token_limit, keep_first_text=model.task is Task.QUESTION)


# ----------------------------------------------------------------------------------- running


def run(
    model: Model, rows: Sequence[Row], targets: Sequence[Target], plan: Plan
) -> list[dict[str, Attribution]]:
    """The attributions of every row by method name; rows of like length share a pass."""
    answers: dict[int, dict[str, Attribution]] = {}
    with progress_bar(plan.progress, len(rows)) as advance:
        for bucket in buckets(model, rows, plan.batch_size):
            chosen = [rows[n] for n in bucket]
            found = run_bucket(model, chosen, [targets[n] for n in bucket], plan)
            answers.update(zip(bucket, found, strict=True))
            advance(len(bucket))
    return [answers[n] for n in range(len(rows))]


def buckets(model: Model, rows: Sequence[Row], batch_size: int) -> Iterator[list[int]]:
    """Row numbers of like length in groups of at most `batch_size`, smaller where rows are long."""
    config = model.network.config.get_text_config()
    maps = (config.num_hidden_layers or 12) * (config.num_attention_heads or 12)
    order = sorted(range(len(rows)), key=lambda n: -len(rows[n]))
    while order:
        most = max(1, ATTENTION_VALUES // (maps * len(rows[order[0]]) ** 2))
        size = 1 if model.takes_one_row else min(batch_size, most)
        yield order[:size]
        order = order[size:]


def run_bucket(
    model: Model, rows: list[Row], targets: list[Target], plan: Plan
) -> list[dict[str, Attribution]]:
    """One pass; where memory does not suffice, two of half the size."""
    try:
        with torch.inference_mode(False):
            return run_pass(model, rows, targets, plan)
    except torch.OutOfMemoryError:
        if len(rows) == 1:
            raise
    middle = len(rows) // 2
    first = run_bucket(model, rows[:middle], targets[:middle], plan)
    return first + run_bucket(model, rows[middle:], targets[middle:], plan)


def run_pass(
    model: Model, rows: list[Row], targets: list[Target], plan: Plan
) -> list[dict[str, Attribution]]:
    """One trace, and every method on it."""
    is_released = plan.variant == "released"
    captured = trace(model, rows, targets, plan.needs, released=is_released)
    explained = explained_targets(captured, targets)
    answers: list[dict[str, Attribution]] = [{} for _ in rows]
    for entry in plan.entries:
        scores = entry.variant(plan.variant)(captured, **plan.options).cpu().numpy()
        if not np.isfinite(scores).all():
            raise UnstableModel(
                f"method '{entry.name}' gives NaN or infinite scores on {model.name}: its gradients "
                "overflow. Load the model with dtype=torch.float32."
            )
        for number, row in enumerate(rows):
            answers[number][entry.name] = attribution_of(
                model, row, scores[number, : len(row)], explained[number], entry, plan
            )
    return answers


def explained_targets(captured: Trace, targets: Sequence[Target]) -> list[Explained]:
    """What was explained, in numbers and for people."""
    goal, present = captured.goal, captured.inputs.present
    logits = goal.value(captured.logits, present, "logit").tolist()
    probabilities: list[float | None] = [None] * len(targets)
    if goal.has_probability:
        probabilities = goal.value(captured.logits, present, "probability").tolist()
    return [
        Explained(
            label=decision.label,
            predicted=decision.predicted,
            logit=logits[n],
            probability=probabilities[n],
            positions=decision.read_at or None,
            output=targets[n].output,
        )
        for n, decision in enumerate(goal.decisions)
    ]


def attribution_of(
    model: Model, row: Row, scores: np.ndarray, target: Explained, entry: Entry, plan: Plan
) -> Attribution:
    """The frozen answer for one row and method."""
    notes = row.notes
    if is_half_precision(model.network):
        kind = str(model.network.dtype).removeprefix("torch.")
        notes = (
            *notes,
            f"computed in {kind}: about three digits are right; use float32 for exact scores",
        )
    return Attribution(
        tokens=row.tokens,
        scores=scores,
        target=target,
        method=entry.name,
        model=model.name,
        signed=entry.signed,
        is_special=row.is_special,
        texts=row.texts,
        offsets=row.offsets,
        segments=row.segments,
        word_ids=row.word_ids,
        options={"variant": plan.variant, **plan.options},
        versions=installed_versions(),
        notes=notes,
    )


@cache
def installed_versions() -> Mapping[str, str]:
    """Versions of what computes the scores; looked up once, because that reads files."""
    return MappingProxyType(
        {name: version(name) for name in ("headlight", "torch", "transformers")}
    )


@contextmanager
def progress_bar(is_shown: bool, total: int) -> Iterator[Any]:
    """A function that advances a bar on standard error, or does nothing."""
    if not is_shown:
        yield lambda _count: None
        return
    columns = (TextColumn("explaining"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("explaining", total=total)
        yield lambda count: bar.advance(task, count)


# ----------------------------------------------------------------------------------- windows


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
