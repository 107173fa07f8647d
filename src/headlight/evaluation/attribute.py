"""Explains a shard: scores of all methods for the explained class, and further scores that metrics compare."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from headlight.attribution import Attribution
from headlight.batch import as_tuple
from headlight.data.example import Example
from headlight.errors import HeadlightError
from headlight.evaluation.given import NOTHING, Given, matching
from headlight.evaluation.predictions import (
    BATCH,
    ExamplePrediction,
    predict_examples,
    same_decisions,
)
from headlight.evaluation.records import AttributionRecord
from headlight.evaluation.settings import Settings
from headlight.evaluation.sourced import ablated_sources, ablations_in
from headlight.explaining.conservation import modified_sums, relevance_sums
from headlight.explaining.plan import Plan, known_options, planned
from headlight.explaining.robust import run_each
from headlight.methods import METHODS
from headlight.models.model import Model
from headlight.running.randomised import randomised


@dataclass(frozen=True, eq=False)
class Shard:
    """Examples with what the model predicts on them, and the methods that explain them.

    given: attributions that are not computed.
    """

    methods: Sequence[str]
    settings: Settings
    models: Callable[[str], Model]
    predictions: list[ExamplePrediction]
    given: Given = field(default_factory=dict)

    @property
    def model(self) -> Model:
        """The model that is explained."""
        return self.models(self.settings.model)

    @property
    def few(self) -> list[ExamplePrediction]:
        """The first examples of the run, for slow metrics."""
        return [each for each in self.predictions if each.number < self.settings.sanity]

    @cached_property
    def plan(self) -> Plan:
        """What to compute for every row."""
        return plan_of(self.model, self.passing, self.settings, BATCH)

    @property
    def passing(self) -> list[str]:
        """The methods that explain a pass; the others remove sources, or their scores were given."""
        others = {*self.ablations, *self.given}
        return [method for method in self.methods if method not in others]

    @property
    def ablations(self) -> list[str]:
        """The methods that remove whole sources."""
        return ablations_in([method for method in self.methods if method not in self.given])


def explain_shard(
    methods: Sequence[str],
    roles: Sequence[str],
    settings: Settings,
    models: Callable[[str], Model],
    examples: Mapping[int, Example],
    given: Given = NOTHING,
) -> list[AttributionRecord]:
    """The scores of methods on examples in some roles, and a record for every example that failed."""
    failures: dict[int, str] = {}
    model, fail = models(settings.model), failures.__setitem__
    predictions = predict_examples(model, settings, examples, fail)
    records = [failure(number, reason) for number, reason in failures.items()]
    shard = Shard(methods, settings, models, predictions, given)
    for role in roles:
        records += ROLES[role](shard)
    return sorted(records, key=lambda record: record.example)


def plan_of(model: Model, methods: Sequence[str], settings: Settings, batch_size: int) -> Plan:
    """What to compute for every row, with those options that the methods have."""
    options = known_options(methods, settings.options, settings.variant)
    return planned(model, list(methods), settings.variant, options, batch_size, False)


def attributed(
    model: Model, plan: Plan, predictions: Sequence[ExamplePrediction], role: str
) -> list[AttributionRecord]:
    """Records of failures, then of the scores of all methods."""
    rows, targets = [each.row for each in predictions], [each.target for each in predictions]
    failed, found = [], []
    for each, answers in zip(predictions, run_each(model, rows, targets, plan), strict=True):
        for method, answer in answers.items():
            if isinstance(answer, HeadlightError):
                failed.append(failure(each.number, str(answer)))
            else:
                found.append(record_of(each, method, role, answer))
    return failed + found


def failure(number: int, reason: str) -> AttributionRecord:
    """The record of an example that could not be explained."""
    return AttributionRecord(number, "", "failed", error=reason)


def record_of(
    each: ExamplePrediction, method: str, role: str, found: Attribution
) -> AttributionRecord:
    """The record of an attribution."""
    return AttributionRecord(
        example=each.number,
        method=method,
        role=role,
        tokens=each.row.tokens,
        ids=each.row.ids,
        special=each.row.is_special,
        sink=found.is_sink,
        scores=found.scores.tolist(),
        positions=each.positions,
        classes=each.classes,
        label=found.target.label,
        predicted=each.predicted,
        predicted_label=each.resolved.predicted,
        gold=each.gold,
        probability=found.target.probability,
        logit=found.target.logit,
    )


# --------------------------------------------------------------------------------------- roles


def own_scores(shard: Shard) -> Iterator[AttributionRecord]:
    """Scores for the explained target."""
    if shard.passing:
        yield from attributed(shard.model, shard.plan, shard.predictions, "own")
    if shard.ablations:
        for each in shard.predictions:
            yield from ablation_records(shard, each)
    for method in shard.methods:
        if method in shard.given:
            for each in shard.predictions:
                yield given_record(each, method, shard.given)


def given_record(each: ExamplePrediction, method: str, given: Given) -> AttributionRecord:
    """The scores that were given for an example, or the record of a failure."""
    found = matching(each, given[method][as_tuple(each.example.text)])
    if isinstance(found, str):
        return failure(each.number, found)
    return replace(record_of(each, method, "own", found), signed=found.signed)


def ablation_records(shard: Shard, each: ExamplePrediction) -> Iterator[AttributionRecord]:
    """Scores of methods that remove sources, or the record of a failure."""
    if not each.example.sources:
        names = ", ".join(shard.ablations)
        yield failure(each.number, f"{names} would remove sources, and this example has none.")
        return
    try:
        found = ablated_sources(
            shard.model, each.example, each.row.ids, shard.ablations, shard.settings.options
        )
    except HeadlightError as error:
        yield failure(each.number, str(error))
        return
    for method, attribution in found.items():
        yield record_of(each, method, "own", attribution)


def runner_up_scores(shard: Shard) -> list[AttributionRecord]:
    """Scores for the second best class."""
    others = [
        replace(each, target=replace(each.target, label=each.runner_up))
        for each in shard.predictions
        if each.runner_up is not None
    ]
    return attributed(shard.model, shard.plan, others, "runner_up")


def rival_scores(shard: Shard) -> Iterator[AttributionRecord]:
    """Scores in other models, for the examples on which they make the same decision."""
    for name in shard.settings.rivals:
        rival = shard.models(name)
        alike = same_decisions(rival, shard.settings, shard.predictions)
        plan = plan_of(rival, shard.passing, shard.settings, BATCH)
        yield from attributed(rival, plan, alike, f"rival:{name}")


def randomised_scores(shard: Shard) -> Iterator[AttributionRecord]:
    """Scores in copies of the model with random weights, from the head down."""
    for depth in range(1, len(shard.model.blocks) + 2):
        changed = randomised(shard.model, depth)
        yield from attributed(changed, shard.plan, shard.few, f"randomised:{depth}")


def relevance_ledger(shard: Shard) -> Iterator[AttributionRecord]:
    """The sum of relevance at every block boundary, for methods that send relevance, by their presets."""
    variant, options = shard.settings.variant, shard.settings.options
    entries = {name: METHODS.specified(name).in_variant(variant) for name in shard.passing}
    rules = {
        name: ("modified_gradient" in entry.needs, entry.preset_with(options))
        for name, entry in entries.items()
    }
    for is_modified, preset in sorted({rule for rule in rules.values() if rule[1]}):
        sums_of = modified_sums if is_modified else relevance_sums
        for each in shard.few:
            sums = sums_of(shard.model, [each.row], [each.target], preset)[0]
            for name in shard.passing:
                if rules[name] == (is_modified, preset):
                    yield AttributionRecord(each.number, name, "ledger", scores=sums)


ROLES: Mapping[str, Callable[[Shard], Iterable[AttributionRecord]]] = {
    "own": own_scores,
    "runner_up": runner_up_scores,
    "rival": rival_scores,
    "randomised": randomised_scores,
    "ledger": relevance_ledger,
}
"""How the scores of each role are computed."""
