"""Further passes on changed rows: they are what a new trace of those rows would be, for the same target."""

from typing import Any

import pytest
import torch

from headlight import Batch, Target
from headlight.models.model import Task
from headlight.target import Target as AnyTarget
from headlight.trace.again import Changed, again
from headlight.trace.trace import Trace, trace, traces
from tests.networks import model, rows

IDS = rows()[1]
PLACES = (0, 2, 3, 5, 8)
NEEDS = {"modified_gradient", "attention"}


def changed(number: int, ids: list[int], places: tuple[int, ...] = PLACES) -> Changed:
    (row,) = Batch.from_ids([[ids[place] for place in places]]).rows
    return Changed(number, row, places)


def assert_same(one: Trace, other: Trace) -> None:
    for name in ("positions", "columns", "classes", "signs"):
        assert torch.equal(getattr(one.goal, name), getattr(other.goal, name)), name
    assert one.goal.outputs == other.goal.outputs
    assert one.goal.are_joint == other.goal.are_joint
    torch.testing.assert_close(one.logits, other.logits)
    torch.testing.assert_close(one.weights, other.weights)
    torch.testing.assert_close(one.gradients().embeddings, other.gradients().embeddings)
    assert torch.equal(one.ordinary, other.ordinary)


CASES: list[tuple[str, Task, AnyTarget, AnyTarget]] = [
    ("bert", Task.SEQUENCE, Target(label=1, contrast=2), Target(label=1, contrast=2)),
    ("bert", Task.REGRESSION, Target(), Target()),
    (
        "llama",
        Task.SEQUENCE,
        Target(label=1, output="probability"),
        Target(1, output="probability"),
    ),
    ("bert", Task.TOKEN, Target(position=5, label=1), Target(position=3, label=1)),
    ("bert", Task.MASKED, Target(position=3, label=7), Target(position=2, label=7)),
    ("bert", Task.QUESTION, Target(span=(2, 5)), Target(span=(1, 3))),
    ("gpt2", Task.CAUSAL, Target(label=9), Target(label=9)),
    ("llama", Task.CAUSAL, Target(position=3, label=9), Target(position=2, label=9)),
]


@pytest.mark.parametrize(("family", "task", "target", "moved"), CASES)
def test_it_is_a_trace_of_the_changed_row(
    family: str, task: Task, target: AnyTarget, moved: AnyTarget
) -> None:
    wrapped = model(family, task, torch.float64)
    first = trace(wrapped, Batch.from_ids([rows()[2], IDS]).rows, [target, target], NEEDS)
    found = again(first, [changed(1, IDS)], NEEDS)
    expected = trace(wrapped, [found.rows[0]], [moved], NEEDS)
    assert_same(found, expected)


def test_a_span_keeps_the_words_that_it_explains() -> None:
    wrapped = model("llama", Task.CAUSAL, torch.float64)
    target = Target(span=(3, 4), weights=(1.0, 0.5))
    first = trace(wrapped, Batch.from_ids(IDS).rows, [target], NEEDS)
    found = again(first, [changed(0, IDS, (1, 2, 3))], NEEDS)
    assert found.goal.positions.tolist() == [[1, 2]]
    assert found.goal.classes.tolist() == [[IDS[3], IDS[4]]]
    assert found.goal.signs.tolist() == [[1.0, 0.5]]
    assert found.goal.are_joint == (True,)
    assert found.goal.resolved[0].label == first.goal.resolved[0].label


def test_the_label_that_was_predicted_at_first_stays() -> None:
    wrapped = model("bert", Task.SEQUENCE, torch.float64)
    first = trace(wrapped, Batch.from_ids(rows()).rows, [Target()] * 3, NEEDS)
    seen: set[Any] = set()
    for size in range(1, 8):
        found = again(first, [changed(2, rows()[2], tuple(range(size)))], NEEDS)
        assert found.goal.classes[0].tolist() == first.goal.classes[2].tolist()
        seen.add(int(found.logits[0, 0].argmax()))
    assert len(seen) > 1, "on some of these rows another label would be predicted"


def test_one_term_of_a_target_stays_one() -> None:
    wrapped = model("bert", Task.QUESTION, torch.float64)
    first = trace(wrapped, Batch.from_ids(IDS).rows, [Target(span=(2, 5))], NEEDS)
    for (_, alone), place in zip(first.terms(), (1, 3), strict=True):
        found = again(alone, [changed(0, IDS)], NEEDS)
        assert found.goal.positions.tolist() == [[place]]
        assert found.weights.nonzero().tolist() == [[0, place]]


def test_blocks_are_computed_again_if_they_were() -> None:
    wrapped = model("bert", Task.SEQUENCE, torch.float64)
    given = (wrapped, Batch.from_ids(IDS).rows, [[Target(label=1)]], {"modified_gradient"})
    (first,) = traces(*given, recomputes=True)
    assert again(first, [changed(0, IDS)], {"modified_gradient"}).forward.recomputes
