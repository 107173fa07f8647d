"""What one job does: explain a shard of examples, measure it, or time it. Examples in, records out."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np
import torch

from headlight.batch import Row, collate
from headlight.data.example import Example, gold_class
from headlight.errors import HeadlightError, InvalidOption
from headlight.evaluation.probing import ask, measure
from headlight.evaluation.settings import Job, Settings, method_of
from headlight.explanation import fitted, planned, rows_of
from headlight.ledger import relevance_sums
from headlight.metrics.case import METRICS, Case, Measures
from headlight.metrics.probe import Subject
from headlight.models.model import POOLED, Model, Task
from headlight.passes import Plan, buckets, run
from headlight.target import Target
from headlight.trace.capture import NETWORK_LOCK, evaluating
from headlight.trace.decisions import DECIDERS, Decision
from headlight.trace.decisions import Case as DecisionCase
from headlight.trace.network import check_finite, check_ids, logits_of

Record = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Verdict:
    """What a model decided on one example, and the target that is explained."""

    number: int
    example: Example
    row: Row
    decision: Decision
    target: Target
    predicted: int
    gold: int | None
    runner_up: int | None

    @property
    def positions(self) -> list[int]:
        """Where the explained logits are read."""
        return [term.position for term in self.decision.terms]

    @property
    def classes(self) -> list[int]:
        """The classes of the explained logits."""
        return [term.index for term in self.decision.terms]


# ---------------------------------------------------------------------------------- verdicts


def judge(
    model: Model,
    settings: Settings,
    examples: Mapping[int, Example],
    fail: Callable[[int, str], None],
) -> list[Verdict]:
    """The verdicts on examples by their numbers; one that fails is reported and left out."""
    rows, golds = {}, {}
    for number, example in examples.items():
        try:
            rows[number] = fitted(model, rows_of(model, example.text)[0])
            golds[number] = gold_of(model, settings, example)
        except HeadlightError as error:
            fail(number, str(error))
            rows.pop(number, None)
    numbers, found = list(rows), []
    for bucket in buckets(model, [rows[n] for n in numbers], 32):
        chosen = [numbers[place] for place in bucket]
        for number, logits in zip(
            chosen, plain_logits(model, [rows[n] for n in chosen]), strict=True
        ):
            try:
                found.append(
                    verdict(
                        model,
                        settings,
                        number,
                        examples[number],
                        rows[number],
                        golds[number],
                        logits,
                    )
                )
            except HeadlightError as error:
                fail(number, str(error))
    return sorted(found, key=lambda each: each.number)


def plain_logits(model: Model, rows: Sequence[Row]) -> Iterator[torch.Tensor]:
    """The logits [position, class] of each row, from one plain pass."""
    check_ids(model, rows)
    inputs = collate(rows, model.pad_id or 0, model.network.device)
    with NETWORK_LOCK, evaluating(model.network), torch.inference_mode():
        logits = logits_of(model, inputs)
    check_finite(logits, model)
    for number, row in enumerate(rows):
        yield logits[number, : len(row)]


def gold_of(model: Model, settings: Settings, example: Example) -> int | None:
    """The right class of an example, where the model has classes."""
    if model.task not in (Task.SEQUENCE, Task.TOKEN):
        return None
    return gold_class(example.label, settings.labels, model.labels, model.name)


def verdict(
    model: Model,
    settings: Settings,
    number: int,
    example: Example,
    row: Row,
    gold: int | None,
    logits: torch.Tensor,
) -> Verdict:
    """What the model decided on a row, and what of it is explained."""
    decide = DECIDERS[model.task]
    asked = Target()
    if settings.explain == "gold":
        asked = gold_target(example, gold)
    decision = decide(DecisionCase(asked, model, row, logits, settings.variant == "released"))
    place, own = decision.terms[0].position, decision.terms[0].index
    order = logits[place].argsort(descending=True).tolist()
    others = [index for index in order if index != own]
    has_classes = model.task not in (Task.QUESTION, Task.REGRESSION)
    return Verdict(
        number,
        example,
        row,
        decision,
        explicit(model.task, decision),
        order[0],
        gold,
        others[0] if has_classes and others else None,
    )


def gold_target(example: Example, gold: int | None) -> Target:
    """The target that is right."""
    if gold is None and not example.answers:
        raise InvalidOption(
            "there is no label to explain. Explain what the model predicts instead."
        )
    return Target(label=example.answers[0] if gold is None else gold)


def explicit(task: Task, decision: Decision) -> Target:
    """The target that names a decision, so that every method explains the same."""
    first = decision.terms[0]
    if task is Task.REGRESSION:
        return Target()
    if task is Task.QUESTION:
        return Target(span=(first.position, decision.terms[-1].position))
    if task in (Task.TOKEN, Task.MASKED):
        return Target(label=first.index, position=first.position)
    return Target(label=first.index)


# ------------------------------------------------------------------------------------- explain


def explain_shard(
    job: Job, settings: Settings, models: Callable[[str], Model], examples: Mapping[int, Example]
) -> list[Record]:
    """Scores of the job's methods on its examples, in its roles; a record for every example that failed."""
    records: list[Record] = []
    model = models(settings.model)

    def fail(number: int, reason: str) -> None:
        records.append({"example": number, "role": "failed", "method": "", "error": reason})

    verdicts = judge(model, settings, examples, fail)
    few = [v for v in verdicts if v.number < settings.sanity]
    plan = plan_of(model, job.methods, settings, 32)
    for role in job.roles:
        if role == "own":
            records += attributed(model, plan, job.methods, verdicts, role, fail)
        elif role == "runner_up":
            seconds = [v for v in verdicts if v.runner_up is not None]
            other = [replace(v, target=replace(v.target, label=v.runner_up)) for v in seconds]
            records += attributed(model, plan, job.methods, other, role, fail)
        elif role == "rival":
            for name in settings.rivals:
                rival = models(name)
                alike = same_decisions(rival, settings, verdicts)
                own = plan_of(rival, job.methods, settings, 32)
                records += attributed(rival, own, job.methods, alike, f"rival:{name}", fail)
        elif role == "randomised":
            for depth in range(1, len(model.blocks) + 2):
                changed = randomised(model, depth)
                records += attributed(changed, plan, job.methods, few, f"randomised:{depth}", fail)
        elif role == "ledger":
            records += ledgers(model, job, few)
    return sorted(records, key=lambda r: r["example"])


def plan_of(model: Model, methods: Sequence[str], settings: Settings, batch_size: int) -> Plan:
    """What is computed for every row, with the options that these methods have."""
    known = {name for method in methods for name in method_of(method).options}
    options = {name: value for name, value in settings.options.items() if name in known}
    return planned(model, list(methods), settings.variant, options, batch_size, False)


def attributed(
    model: Model,
    plan: Plan,
    methods: Sequence[str],
    verdicts: Sequence[Verdict],
    role: str,
    fail: Callable[[int, str], None],
) -> list[Record]:
    """Records of the scores of all methods.

    Where a pass fails, each half of its examples is tried, then each method alone; what still fails is told.
    """
    if not verdicts:
        return []
    try:
        answers = run(model, [v.row for v in verdicts], [v.target for v in verdicts], plan)
    except HeadlightError as error:
        if len(verdicts) > 1:
            middle = len(verdicts) // 2
            first = attributed(model, plan, methods, verdicts[:middle], role, fail)
            return first + attributed(model, plan, methods, verdicts[middle:], role, fail)
        if len(methods) > 1:
            alone = [replace(plan, entries=(entry,)) for entry in plan.entries]
            return [
                record
                for own, method in zip(alone, methods, strict=True)
                for record in attributed(model, own, [method], verdicts, role, fail)
            ]
        fail(verdicts[0].number, str(error))
        return []
    return [
        record_of(each, method, role, found.scores, found.target)
        for each, answer in zip(verdicts, answers, strict=True)
        for method, found in zip(methods, answer.values(), strict=True)
    ]


def record_of(each: Verdict, method: str, role: str, scores: Any, explained: Any) -> Record:
    """A row of the table of attributions."""
    return {
        "example": each.number,
        "method": method,
        "role": role,
        "tokens": list(each.row.tokens),
        "ids": list(each.row.ids),
        "special": list(each.row.is_special),
        "scores": scores.tolist(),
        "positions": each.positions,
        "classes": each.classes,
        "label": explained.label,
        "predicted": each.predicted,
        "predicted_label": each.decision.predicted,
        "gold": each.gold,
        "probability": explained.probability,
        "logit": explained.logit,
    }


def same_decisions(rival: Model, settings: Settings, verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts on which another model decides alike; it must read the same tokens."""
    found = []
    theirs = judge(rival, settings, {v.number: v.example for v in verdicts}, lambda *_: None)
    own = {v.number: v for v in verdicts}
    for each in theirs:
        if each.row.ids != own[each.number].row.ids:
            raise InvalidOption(
                f"the rival '{rival.name}' reads other tokens than '{settings.model}', so their scores "
                "cannot be held against each other. Use models with one tokenizer."
            )
        if each.predicted == own[each.number].predicted:
            found.append(own[each.number])
    return found


def randomised(model: Model, depth: int) -> Model:
    """A copy whose head and last `depth` − 1 blocks have weights drawn anew, of the same mean and spread."""
    network = deepcopy(model.network)
    copy = replace(model, network=network)
    blocks = copy.blocks
    inside = {id(p) for p in network.base_model.parameters()}
    pooler = getattr(network.base_model, "pooler", None)
    chosen = [p for p in network.parameters() if id(p) not in inside]
    chosen += list(pooler.parameters()) if pooler is not None else []
    for block in blocks[len(blocks) - depth + 1 :]:
        chosen += list(block.parameters())
    generator = torch.Generator().manual_seed(depth)
    with torch.no_grad():
        for parameter in chosen:
            drawn = torch.randn(parameter.shape, generator=generator)
            spread = parameter.std(correction=0)
            parameter.copy_(drawn.to(parameter) * spread + parameter.mean())
    return copy


def preset_of(method: str) -> str:
    """How a method sends relevance."""
    return "attn_lrp" if method_of(method).name == "attn_lrp" else "chefer"


def ledgers(model: Model, job: Job, verdicts: Sequence[Verdict]) -> list[Record]:
    """The sums of relevance at every block boundary, for methods that send it back."""
    sending = [name for name in job.methods if "relevance" in method_of(name).needs]
    found = []
    for preset in sorted({preset_of(name) for name in sending}):
        for each in verdicts:
            sums = relevance_sums(model, [each.row], [each.target], preset)[0]
            found += [
                {"example": each.number, "method": name, "role": "ledger", "scores": sums}
                for name in sending
                if preset_of(name) == preset
            ]
    return found


# ------------------------------------------------------------------------------------- measure


def measure_shard(
    job: Job, model: Model, examples: Mapping[int, Example], attributions: Sequence[Record]
) -> list[Record]:
    """Every metric of the job on every attribution of its methods."""
    cases = list(cases_of(job, model, examples, attributions))
    found = measure(model, [case for _, case in cases], job.metrics)
    return [
        record
        for (number, case), by_metric in zip(cases, found, strict=True)
        for name, measures in by_metric.items()
        for record in measure_records(number, case.method, name, measures)
    ]


def measure_records(number: int, method: str, name: str, measures: Measures) -> Iterator[Record]:
    """Rows of the table of measures."""
    for part, found in measures.items():
        metric = name if not part else f"{name}.{part}"
        yield {
            "example": number,
            "method": method,
            "metric": metric,
            "value": None if math.isnan(found.value) else found.value,
            "weight": found.weight,
            "levels": list(found.levels),
            "curve": list(found.curve),
            "note": found.note or None,
        }


def cases_of(
    job: Job, model: Model, examples: Mapping[int, Example], attributions: Sequence[Record]
) -> Iterator[tuple[int, Case]]:
    """The cases of a shard with their example's number."""
    others: dict[tuple[int, str], dict[str, np.ndarray]] = {}
    for record in attributions:
        if record["role"] not in ("own", "failed"):
            key = (record["example"], record["method"])
            others.setdefault(key, {})[record["role"]] = np.array(record["scores"])
    subjects: dict[int, tuple[Subject, np.ndarray | None, tuple[tuple[int, ...], ...]]] = {}
    for record in attributions:
        number, method = record["example"], record["method"]
        if record["role"] != "own" or method not in job.methods:
            continue
        if number not in subjects:
            row = fitted(model, rows_of(model, examples[number].text)[0])
            known = answers_in(row, examples[number].answers)
            subjects[number] = (
                subject_of(model, row, record["positions"], record["classes"]),
                marks_in(row, examples[number]),
                known,
            )
        subject, marks, answers = subjects[number]
        yield (
            number,
            Case(
                subject=subject,
                scores=np.array(record["scores"], np.float64),
                method=method,
                signed=method_of(method).signed,
                gold=record["gold"],
                predicted=record["predicted"],
                marks=marks,
                answers=answers,
                others=others.get((number, method), {}),
            ),
        )


def subject_of(model: Model, row: Row, positions: Sequence[int], classes: Sequence[int]) -> Subject:
    """A row that can be probed."""
    tokenizer = model.tokenizer
    return Subject(
        row=row,
        positions=tuple(positions),
        classes=tuple(classes),
        is_pooled=model.task in POOLED,
        mask_id=None if tokenizer is None else tokenizer.mask_token_id,
        pad_id=model.pad_id,
    )


def covered(row: Row, segment: int, start: int, end: int) -> list[int]:
    """The tokens that share a character with a span of a text."""
    if row.offsets is None or row.segments is None:
        return []
    return [
        p
        for p, (first, after) in enumerate(row.offsets)
        if row.segments[p] == segment and first < end and start < after
    ]


def marks_in(row: Row, example: Example) -> np.ndarray | None:
    """Which tokens a person marked."""
    if example.marks is None:
        return None
    found = np.zeros(len(row), bool)
    for mark in example.marks:
        found[covered(row, *mark)] = True
    return found


def answers_in(row: Row, answers: Sequence[str]) -> tuple[tuple[int, ...], ...]:
    """The tokens of the answers that stand in the context as it was read."""
    segment = len(row.texts) - 1
    found = []
    for answer in answers:
        start = row.texts[segment].find(answer)
        tokens = covered(row, segment, start, start + len(answer)) if start >= 0 and answer else []
        if tokens:
            found.append(tuple(tokens))
    return tuple(found)


# ---------------------------------------------------------------------------------------- time


def time_shard(
    job: Job, settings: Settings, model: Model, examples: Mapping[int, Example]
) -> list[Record]:
    """Seconds of every method on single examples, beside a plain pass; both are measured in turn."""
    verdicts = judge(model, settings, examples, lambda *_: None)
    found: list[Record] = []
    (name,) = job.metrics
    for method in job.methods:
        plan = plan_of(model, [method], settings, 1)
        for each in verdicts[:1]:
            run(model, [each.row], [each.target], plan)
        for each in verdicts:
            whole = subject_of(model, each.row, each.positions, each.classes).whole
            plain = median(clocked(ask, model, [whole]) for _ in range(3))
            seconds = clocked(run, model, [each.row], [each.target], plan)
            measures = METRICS["runtime"].function(seconds, plain)
            found += measure_records(each.number, method, name, measures)
    return found


def clocked(do: Callable[..., Any], *args: Any) -> float:
    """Seconds that something takes."""
    start = time.perf_counter()
    do(*args)
    return time.perf_counter() - start


def work(
    job: Job,
    settings: Settings,
    models: Callable[[str], Model],
    examples: Mapping[int, Example],
    attributions: Sequence[Record],
) -> list[Record]:
    """The records of any job."""
    torch.set_num_threads(settings.threads)
    if job.kind == "explain":
        return explain_shard(job, settings, models, examples)
    if job.kind == "measure":
        return measure_shard(job, models(settings.model), examples, attributions)
    return time_shard(job, settings, models(settings.model), examples)
