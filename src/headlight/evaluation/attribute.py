"""Explaining a shard: the scores of all methods for the decision, and those that metrics hold them against."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

import torch

from headlight.attribution import Attribution
from headlight.data.example import Example
from headlight.errors import HeadlightError
from headlight.evaluation.plan import Job
from headlight.evaluation.predictions import Verdict, judge, same_decisions
from headlight.evaluation.records import AttributionRecord
from headlight.evaluation.settings import Settings
from headlight.explaining.batches import run
from headlight.explaining.conservation import relevance_sums
from headlight.explaining.plan import Plan, planned
from headlight.methods import METHODS
from headlight.models.model import Model


def explain_shard(
    job: Job, settings: Settings, models: Callable[[str], Model], examples: Mapping[int, Example]
) -> list[AttributionRecord]:
    """Scores of the job's methods on its examples, in its roles; a record for every example that failed."""
    records: list[AttributionRecord] = []
    model = models(settings.model)

    def fail(number: int, reason: str) -> None:
        records.append(AttributionRecord(number, "", "failed", error=reason))

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
            records += ledgers(model, job, settings, few)
    return sorted(records, key=lambda record: record.example)


def plan_of(model: Model, methods: Sequence[str], settings: Settings, batch_size: int) -> Plan:
    """What is computed for every row, with the options that these methods have."""
    known = {name for method in methods for name in METHODS.specified(method).options}
    options = {name: value for name, value in settings.options.items() if name in known}
    return planned(model, list(methods), settings.variant, options, batch_size, False)


def attributed(
    model: Model,
    plan: Plan,
    methods: Sequence[str],
    verdicts: Sequence[Verdict],
    role: str,
    fail: Callable[[int, str], None],
) -> list[AttributionRecord]:
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
        record_of(each, method, role, found)
        for each, answer in zip(verdicts, answers, strict=True)
        for method, found in zip(methods, answer.values(), strict=True)
    ]


def record_of(each: Verdict, method: str, role: str, found: Attribution) -> AttributionRecord:
    """A row of the table of attributions."""
    return AttributionRecord(
        example=each.number,
        method=method,
        role=role,
        tokens=each.row.tokens,
        ids=each.row.ids,
        special=each.row.is_special,
        scores=found.scores.tolist(),
        positions=each.positions,
        classes=each.classes,
        label=found.target.label,
        predicted=each.predicted,
        predicted_label=each.decision.predicted,
        gold=each.gold,
        probability=found.target.probability,
        logit=found.target.logit,
    )


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


def ledgers(
    model: Model, job: Job, settings: Settings, verdicts: Sequence[Verdict]
) -> list[AttributionRecord]:
    """The sums of relevance at every block boundary, for methods that send it back, by their own rules."""
    presets = {
        name: METHODS.specified(name).preset_in(settings.variant, settings.options)
        for name in job.methods
    }
    found = []
    for preset in sorted({preset for preset in presets.values() if preset}):
        for each in verdicts:
            sums = relevance_sums(model, [each.row], [each.target], preset)[0]
            found += [
                AttributionRecord(each.number, name, "ledger", scores=sums)
                for name in job.methods
                if presets[name] == preset
            ]
    return found
