"""`ExamplePrediction`: what a model predicts on an example, and the target that is explained."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from torch import Tensor

from headlight.batch import Row
from headlight.data.example import Example, gold_class
from headlight.errors import HeadlightError, InvalidOption
from headlight.evaluation.contrasted import contrasted_from
from headlight.evaluation.settings import Settings
from headlight.evaluation.sourced import source_numbers, written_from
from headlight.explaining.inputs import rows_of
from headlight.explaining.prediction import logits_by_row, predicted
from headlight.models.model import Model, Task
from headlight.models.reading import cut_to_limit
from headlight.running.buckets import buckets
from headlight.target import Target
from headlight.trace.resolve import ResolvedTarget

BATCH = 32
"""Examples per forward pass."""


@dataclass(frozen=True, eq=False)
class ExamplePrediction:
    """What a model predicts on one example, and the target that is explained.

    gold: the right class, if the model has classes. predicted: the most probable class. runner_up: the most
    probable class other than the explained one.
    """

    number: int
    example: Example
    row: Row
    gold: int | None
    resolved: ResolvedTarget
    target: Target
    predicted: int
    runner_up: int | None

    @property
    def positions(self) -> list[int]:
        """Where the explained logits are read; probes read that of the answer only, not that of a contrast."""
        return [term.position for term in self.resolved.terms if term.sign > 0]

    @property
    def classes(self) -> list[int]:
        """The classes of the explained logits."""
        return [term.index for term in self.resolved.terms if term.sign > 0]


def predict_examples(
    model: Model,
    settings: Settings,
    examples: Mapping[int, Example],
    fail: Callable[[int, str], None],
) -> list[ExamplePrediction]:
    """Predictions in the order of the examples; failures go to `fail(number, reason)` and are skipped."""
    rows: dict[int, Row] = {}
    golds, asked, found = {}, {}, []
    for number, example in examples.items():
        try:
            golds[number] = gold_of(model, settings, example)
            row, asked[number] = read_example(model, settings, example, golds[number])
            rows[number] = row
        except HeadlightError as error:
            fail(number, str(error))
    # One bucket at a time, because the logits of a whole shard of language models would not fit into memory.
    order = list(rows)
    for bucket in buckets(model, list(rows.values()), BATCH):
        numbers = [order[place] for place in bucket]
        every = logits_by_row(model, [rows[number] for number in numbers], BATCH)
        for number, logits in zip(numbers, every, strict=True):
            given = (examples[number], rows[number], golds[number], asked[number])
            try:
                found.append(prediction_of(model, settings, number, given, logits))
            except HeadlightError as error:
                fail(number, str(error))
    return sorted(found, key=lambda each: each.number)


def read_example(
    model: Model, settings: Settings, example: Example, gold: int | None
) -> tuple[Row, Target]:
    """The row of an example, and the target that it asks for; of a question with sources, its answer."""
    if example.rather_than is not None:
        contrasted = contrasted_from(model, example)
        return contrasted.row, contrasted.target
    if example.sources:
        written = written_from(model, example, is_gold=settings.explain == "gold")
        return replace(written.row, units=source_numbers(written)), Target(span=written.whole)
    row = cut_to_limit(model, rows_of(model, example.text)[0])
    return row, gold_target(example, gold) if settings.explain == "gold" else Target()


def gold_of(model: Model, settings: Settings, example: Example) -> int | None:
    """The right class of an example, if the model has classes."""
    if model.task not in (Task.SEQUENCE, Task.TOKEN):
        return None
    return gold_class(example.label, settings.labels, model.labels, model.name)


def prediction_of(
    model: Model,
    settings: Settings,
    number: int,
    given: tuple[Example, Row, int | None, Target],
    logits: Tensor,
) -> ExamplePrediction:
    """The prediction that logits [position, class] make, and the target that is explained.

    given: the example, its row, its right class and the target that it asks for.
    """
    example, row, gold, asked = given
    found = predicted(model, row, asked, logits, is_released=settings.variant == "released")
    explained = found.resolved.terms[0]
    order = logits[explained.position].argsort(descending=True).tolist()
    others = [index for index in order if index != explained.index]
    is_answered = bool(example.sources) or example.rather_than is not None
    has_classes = model.task not in (Task.QUESTION, Task.REGRESSION) and not is_answered
    runner_up = others[0] if has_classes and others else None
    target = asked if is_answered else found.target
    return ExamplePrediction(
        number, example, row, gold, found.resolved, target, order[0], runner_up
    )


def gold_target(example: Example, gold: int | None) -> Target:
    """The right label or answer as a target."""
    if gold is None and not example.answers:
        raise InvalidOption(
            "the example has no label to explain. Use explain='predicted' instead of 'gold'."
        )
    return Target(label=example.answers[0] if gold is None else gold)


def same_decisions(
    rival: Model, settings: Settings, predictions: Sequence[ExamplePrediction]
) -> list[ExamplePrediction]:
    """The predictions that a rival model shares; it must have the same tokenizer."""
    ours = {each.number: each for each in predictions}
    examples = {number: each.example for number, each in ours.items()}
    theirs = predict_examples(rival, settings, examples, lambda *_: None)
    for each in theirs:
        if each.row.ids != ours[each.number].row.ids:
            raise InvalidOption(
                f"the rival '{rival.name}' reads other tokens than '{settings.model}', so their scores "
                "cannot be compared. Use models with the same tokenizer."
            )
    return [ours[each.number] for each in theirs if each.predicted == ours[each.number].predicted]
