"""`Goal`: the resolved targets of a batch: which of its logits, with which signs, and where they are read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import torch
from torch import Tensor

from headlight.batch import Inputs, Row
from headlight.errors import InvalidOption
from headlight.models.model import Model, Task
from headlight.running.precision import max_precision
from headlight.shapes import PerRow, Scores, Terms, TermValues
from headlight.target import Target
from headlight.trace.resolve import RESOLVERS, ResolvedTarget, Unresolved

Output = Literal["logit", "probability", "log_probability"]


@dataclass(frozen=True, eq=False)
class Goal:
    """The targets of a whole batch, as index tensors into its logits.

    positions: the tokens at which the terms are read. columns: where the logits of these tokens are among
    those that were computed. weights: the weight of each token's row in the read-out; None if it is not
    known. kind: how logits become probabilities. outputs: what is explained in each row, the logit or the
    probability. are_joint: of each row, whether its terms are tokens of one answer, whose probabilities are
    multiplied.
    """

    resolved: tuple[ResolvedTarget, ...]
    positions: Terms
    columns: Terms
    classes: Terms
    signs: TermValues
    weights: Scores | None
    kind: Literal["class", "sigmoid", "span", "value"]
    outputs: tuple[str, ...]
    are_joint: tuple[bool, ...] = ()

    def term_logits(self, logits: Tensor) -> TermValues:
        """The logits of the terms."""
        rows = torch.arange(len(logits), device=logits.device)[:, None]
        return logits[rows, self.columns, self.classes]

    def term_log_probabilities(self, logits: Tensor, present: Tensor) -> TermValues:
        """The log-probabilities of the terms: over classes, over positions for answer spans, or independent."""
        rows = torch.arange(len(logits), device=logits.device)[:, None]
        if self.kind == "class":
            choices = logits[rows, self.columns].log_softmax(-1)
            return choices.gather(-1, self.classes[..., None])[..., 0]
        if self.kind == "span":
            columns = logits.masked_fill(~present[..., None], -torch.inf).log_softmax(1)
            return columns[rows, self.columns, self.classes]
        return torch.nn.functional.logsigmoid(self.term_logits(logits))

    def value(self, logits: Tensor, present: Tensor, output: Output | None = None) -> PerRow:
        """The explained number of every row; `output` overrides what each row asks for.

        Computed in at least 32 bits: in 16, probabilities near 1 have no digits left that change.
        """
        logits = logits.to(max_precision(logits.dtype))
        outputs = [output or asked for asked in self.outputs]
        values = (self.term_logits(logits) * self.signs).sum(1)
        if set(outputs) == {"logit"} or self.kind == "value":
            return values
        logs = self.term_log_probabilities(logits, present)
        log_values = (logs * self.signs).sum(1)
        joint = self.are_joint or (False,) * len(logits)
        products = torch.tensor([j or self.kind == "span" for j in joint], device=logits.device)
        by_name = {
            "logit": values,
            "probability": log_values.exp().where(products, (logs.exp() * self.signs).sum(1)),
            "log_probability": log_values,
        }
        return torch.stack([by_name[name][row] for row, name in enumerate(outputs)])

    def seed(self, logits: Tensor, sign: float) -> Tensor:
        """Where relevance starts: with 1 at the terms of one sign."""
        values = (self.signs == sign).to(logits)
        rows = torch.arange(len(logits), device=logits.device)[:, None].expand_as(values)
        place = (rows, self.columns, self.classes)
        return torch.zeros_like(logits).index_put(place, values, accumulate=True)

    def alone(self, term: int) -> "Goal":
        """One term of every row with sign 1, read at its own position; pooled heads read as before."""
        column = slice(term, term + 1)
        weights = self.weights
        if weights is not None and self.kind == "span":
            weights = torch.zeros_like(weights).scatter(1, self.positions[:, column], 1.0)
        return replace(
            self,
            positions=self.positions[:, column],
            columns=self.columns[:, column],
            classes=self.classes[:, column],
            signs=torch.ones_like(self.signs[:, column]),
            weights=weights,
        )

    def repeated(self, count: int) -> "Goal":
        """The goal of the batch repeated this many times, one copy after the other."""
        return replace(
            self,
            resolved=self.resolved * count,
            positions=self.positions.repeat(count, 1),
            columns=self.columns.repeat(count, 1),
            classes=self.classes.repeat(count, 1),
            signs=self.signs.repeat(count, 1),
            weights=None if self.weights is None else self.weights.repeat(count, 1),
            outputs=self.outputs * count,
            are_joint=self.are_joint * count,
        )

    @property
    def has_probability(self) -> bool:
        """Whether the head's numbers are logits of a probability."""
        return self.kind != "value"


def goal_of(
    targets: Sequence[Target],
    model: Model,
    rows: Sequence[Row],
    inputs: Inputs,
    logits: Tensor,
    *,
    released: bool = False,
) -> Goal:
    """The targets of a batch, resolved on its logits [batch, position, class].

    `released` predicts answer spans as the authors' code does: start and end by separate argmax over
    all tokens.
    """
    resolve = RESOLVERS[model.task]
    resolved = []
    for number, (target, row) in enumerate(zip(targets, rows, strict=True)):
        if target.output == "probability" and model.task is Task.REGRESSION:
            raise InvalidOption(
                "a regression head has no probability. Use output='logit', its value."
            )
        check_target(target, model.task)
        row_logits = logits[number, : len(row)].detach()
        resolved.append(resolve(Unresolved(target, model, row, row_logits, released, inputs.read)))
    outputs = tuple(target.output for target in targets)
    are_joint = tuple(target.span is not None for target in targets)
    return goal_from(resolved, model, inputs, logits, outputs, are_joint)


def goal_from(
    resolved: Sequence[ResolvedTarget],
    model: Model,
    inputs: Inputs,
    logits: Tensor,
    outputs: tuple[str, ...],
    are_joint: tuple[bool, ...],
) -> Goal:
    """The goal of a batch whose targets are resolved, as tensors of the type and device of its logits."""
    width = max(len(target.terms) for target in resolved)

    def column(name: str) -> list[list[float | int]]:
        return [
            [getattr(t, name) for t in d.terms] + [0] * (width - len(d.terms)) for d in resolved
        ]

    device, dtype = logits.device, logits.dtype
    positions = torch.tensor(column("position"), device=device, dtype=torch.long)
    if inputs.read is not None:  # rows with fewer terms than others are filled up
        positions = positions.where(positions != 0, inputs.read[0])
    return Goal(
        resolved=tuple(resolved),
        positions=positions,
        columns=inputs.columns(positions),
        classes=torch.tensor(column("index"), device=device, dtype=torch.long),
        signs=torch.tensor(column("sign"), device=device, dtype=dtype),
        weights=reading_weights(resolved, inputs, dtype),
        kind=kind_of(model),
        outputs=outputs,
        are_joint=are_joint,
    )


def kind_of(model: Model) -> Literal["class", "sigmoid", "span", "value"]:
    """How the head's numbers become probabilities."""
    if model.task is Task.REGRESSION:
        return "value"
    if model.task is Task.QUESTION:
        return "span"
    is_multiple = model.network.config.problem_type == "multi_label_classification"
    return "sigmoid" if model.task is Task.SEQUENCE and is_multiple else "class"


def reading_weights(
    resolved: Sequence[ResolvedTarget], inputs: Inputs, dtype: torch.dtype
) -> Scores | None:
    """The weight of each token's row in the read-out; None if the read-out of a row is not known."""
    weights = torch.zeros(inputs.ids.shape, dtype=dtype, device=inputs.ids.device)
    for number, target in enumerate(resolved):
        if target.read_at is None:
            return None
        for position, weight in target.read_at:
            weights[number, position] += weight
    return weights


FIELDS = {
    Task.SEQUENCE: {"label", "contrast"},
    Task.REGRESSION: {"label"},
    Task.TOKEN: {"label", "contrast", "position", "word"},
    Task.QUESTION: {"label", "span", "part"},
    Task.MASKED: {"label", "contrast", "position", "word"},
    Task.CAUSAL: {"label", "contrast", "position", "span", "weights"},
}
"""The fields of a target that mean something for each task."""


def check_target(target: Target, task: Task) -> None:
    """Refuse a field of the target that means nothing for the task."""
    for name in ("label", "contrast", "position", "word", "span", "part", "weights"):
        value = getattr(target, name)
        if value not in (None, "span") and name not in FIELDS[task]:
            allowed = ", ".join(sorted(FIELDS[task]))
            raise InvalidOption(
                f"Target({name}={value!r}) means nothing for {task}. It takes: {allowed}, output."
            )
        is_fixed = task is Task.CAUSAL and target.span is not None and name != "part"
        if is_fixed and value is not None and name not in ("span", "weights"):
            raise InvalidOption(
                f"Target({name}={value!r}, span={target.span}) is not possible: a span says itself which "
                f"tokens are explained. Leave out span or {name}."
            )
