"""`explain_labels`: what supports each label, from one pass."""

from collections.abc import Sequence
from typing import Any, overload

from headlight.attribution import Attribution
from headlight.batch import Text
from headlight.errors import InvalidOption
from headlight.explaining.batches import run_goals
from headlight.explaining.inputs import Given, read
from headlight.explaining.plan import Method, planned
from headlight.models.model import Model, Task
from headlight.models.reading import cut_to_limit
from headlight.target import Label, Target

BY_LABEL = (Task.SEQUENCE, Task.TOKEN)
"""Tasks whose labels are few enough to explain every one."""


@overload
def explain_labels(
    model: Model,
    inputs: str | tuple[str, str],
    method: Method | None = ...,
    *,
    labels: Sequence[Label] | None = ...,
    target: Target | None = ...,
    batch_size: int = ...,
    **options: Any,
) -> dict[str, Attribution]: ...
@overload
def explain_labels(
    model: Model,
    inputs: list[Text] | list[str] | list[tuple[str, str]],
    method: Method | None = ...,
    *,
    labels: Sequence[Label] | None = ...,
    target: Target | None = ...,
    batch_size: int = ...,
    **options: Any,
) -> list[dict[str, Attribution]]: ...
@overload
def explain_labels(
    model: Model,
    inputs: Given,
    method: Method | None = ...,
    *,
    labels: Sequence[Label] | None = ...,
    target: Target | None = ...,
    batch_size: int = ...,
    **options: Any,
) -> Any: ...


def explain_labels(
    model: Model,
    inputs: Given,
    method: Method | None = None,
    *,
    labels: Sequence[Label] | None = None,
    target: Target | None = None,
    batch_size: int = 32,
    **options: Any,
) -> dict[str, Attribution] | list[dict[str, Attribution]]:
    """Explain every label of a classifier, or several tokens of a language model, from one pass.

    One input gives a dict of attributions by label, several give a list of those.
    labels: the labels or tokens to explain; by default all labels of a classifier.
    target: where a token classifier or language model decides, and which output is explained.
    """
    plan = planned(model, method, options=options, batch_size=batch_size)
    asked = read(model, inputs)
    chosen = [with_label(target or Target(), label) for label in labels_of(model, labels)]
    rows = [cut_to_limit(model, row) for row in asked.rows]
    (name,) = (entry.name for entry in plan.entries)
    by_row = run_goals(model, rows, [chosen] * len(rows), plan)
    answers = [{a[name].target.label: a[name] for a in by_target} for by_target in by_row]
    return answers[0] if asked.is_one else answers


def labels_of(model: Model, labels: Sequence[Label] | None) -> Sequence[Label]:
    """The labels asked for, by default all labels of a classifier."""
    if labels is None and model.task in BY_LABEL:
        return list(model.labels)
    if not labels or model.task in (Task.QUESTION, Task.REGRESSION):
        raise InvalidOption(
            f"explain_labels explains every label of a classifier; {model.name} does {model.task}. Give "
            "labels= the tokens of a language model to compare, or use explain."
        )
    return labels


def with_label(target: Target, label: Label) -> Target:
    """The same target for one label."""
    return Target(label, None, target.position, target.word, output=target.output)
