"""`Verdict`: what a model decided on an example, and the target that is explained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from headlight.batch import Row
from headlight.data.example import Example, gold_class
from headlight.errors import HeadlightError, InvalidOption
from headlight.evaluation.settings import Settings
from headlight.explaining.batches import buckets
from headlight.explaining.inputs import fitted, rows_of
from headlight.explaining.prediction import explicit, plain_logits
from headlight.models.model import Model, Task
from headlight.target import Target
from headlight.trace.resolve import DECIDERS, Case, Decision


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
    decision = decide(Case(asked, model, row, logits, settings.variant == "released"))
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
