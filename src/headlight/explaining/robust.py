"""Explaining when something may fail: all attributions that are possible, and errors for the others."""

from collections.abc import Mapping, Sequence
from typing import Any

from headlight.attribution import Attribution
from headlight.batch import Row
from headlight.errors import HeadlightError
from headlight.explaining.batches import run
from headlight.explaining.plan import Plan, known_options, planned
from headlight.explaining.prediction import Prediction, predict
from headlight.models.model import Model
from headlight.target import Target

Outcome = Attribution | HeadlightError
"""What a method gave for a row: its attribution, or why there is none."""


def plan_each(
    model: Model, methods: Sequence[str], options: Mapping[str, Any], **settings: Any
) -> tuple[Plan | None, dict[str, HeadlightError]]:
    """A plan of the methods that work for this model, and why the others do not.

    Each method gets only the options that it has.
    """
    failures: dict[str, HeadlightError] = {}
    for name in methods:
        try:
            planned(model, name, options=known_options([name], options), **settings)
        except HeadlightError as error:
            failures[name] = error
    kept = [name for name in methods if name not in failures]
    if not kept:
        return None, failures
    return planned(model, kept, options=known_options(kept, options), **settings), failures


def run_each(
    model: Model, rows: Sequence[Row], targets: Sequence[Target], plan: Plan
) -> list[dict[str, Outcome]]:
    """Like `run`; if a pass fails, each half of its rows is tried, then each method alone."""
    if not rows:
        return []
    try:
        return [dict(answers) for answers in run(model, rows, targets, plan)]
    except HeadlightError as error:
        if len(rows) == 1 and len(plan.entries) == 1:
            return [{plan.entries[0].name: error}]
    if len(rows) > 1:
        middle = len(rows) // 2
        first = run_each(model, rows[:middle], targets[:middle], plan)
        return first + run_each(model, rows[middle:], targets[middle:], plan)
    alone = [run_each(model, rows, targets, plan.only(entry))[0] for entry in plan.entries]
    return [{name: outcome for outcomes in alone for name, outcome in outcomes.items()}]


def predict_each(
    model: Model, rows: Sequence[Row], targets: Sequence[Target]
) -> list[Prediction | HeadlightError]:
    """Like `predict`; if it fails, each half of the rows is tried."""
    if not rows:
        return []
    try:
        return list(predict(model, rows, targets))
    except HeadlightError as error:
        if len(rows) == 1:
            return [error]
    middle = len(rows) // 2
    first = predict_each(model, rows[:middle], targets[:middle])
    return first + predict_each(model, rows[middle:], targets[middle:])
