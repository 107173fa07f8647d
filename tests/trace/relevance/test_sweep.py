"""Relevance that is sent back keeps its sum, through every family and every mask."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from headlight import Batch, HeadMask, Target, UnsupportedModel
from headlight.methods.relevance import Reading, conserving_gate, plain_gate
from headlight.models.model import Task
from headlight.trace.relevance.intercept import Sweep, Switchboard
from headlight.trace.relevance.rules import Operation
from headlight.trace.relevance.sweep import Flow, send_relevance, sum_of, summing_to
from headlight.trace.trace import Trace, trace
from tests.networks import TARGETS, in_pairs, model, rows


def traced(family: str, task: Task, needs: set[str]) -> Trace:
    targets = [TARGETS.get(task, Target())] * 3
    return trace(model(family, task, torch.float64), Batch.from_ids(rows()).rows, targets, needs)


@in_pairs()
def test_relevance_keeps_its_sum_and_gradients_are_autograds(family: str, task: Task) -> None:
    """Σ R = 1 for each explained logit at every block boundary, per row."""
    plain = traced(family, task, {"attention_gradient", "hidden_gradient", "embedding_gradient"})
    found = traced(family, task, {"relevance"})
    # attention is written out in one pass and fused in the other
    torch.testing.assert_close(found.logits, plain.logits, rtol=1e-11, atol=1e-13)
    one, other = found.gradients(), plain.gradients()
    pairs = zip((*one.attention, *one.hidden), (*other.attention, *other.hidden), strict=True)
    for a, b in pairs:
        torch.testing.assert_close(a, b, rtol=1e-9, atol=1e-12)
    start = (found.goal.signs > 0).sum(1).double()
    for states in found.relevance(Flow("chefer")).hidden:
        torch.testing.assert_close(states.sum((1, 2)), start, rtol=1e-3, atol=0)


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_layer_passes_everything_through_its_residual(closed: int) -> None:
    found = traced("bert", Task.SEQUENCE, {"relevance"})
    heads = torch.ones(3, 4)
    heads[closed] = 0
    gate = conserving_gate(HeadMask.of(heads), Reading(empty="residual"))
    flow = Flow(gate=gate, closed=frozenset({closed}))
    relevance = found.relevance(flow)
    assert not relevance.attention[closed].any()
    for states in (relevance.embeddings, *relevance.hidden):
        torch.testing.assert_close(
            states.sum((1, 2)), torch.ones(3, dtype=torch.float64), rtol=1e-6, atol=0
        )


def test_a_masked_head_gets_no_relevance_and_others_keep_theirs_above() -> None:
    found = traced("bert", Task.SEQUENCE, {"relevance"})
    heads = torch.ones(3, 4)
    heads[1, 2] = 0
    masked = found.relevance(Flow(gate=plain_gate(HeadMask.of(heads))))
    plain = found.relevance(Flow())
    torch.testing.assert_close(masked.attention[2], plain.attention[2])
    torch.testing.assert_close(masked.attention[1][:, [0, 1, 3]], plain.attention[1][:, [0, 1, 3]])
    assert not masked.attention[1][:, 2].any()
    assert not torch.allclose(masked.attention[0], plain.attention[0])


@pytest.mark.parametrize("floor", [0, 1, -1])
@pytest.mark.parametrize("family", ["bert", "llama", "deberta-v2"])
def test_above_its_floor_relevance_is_the_same(family: str, floor: int) -> None:
    found = traced(family, Task.SEQUENCE, {"relevance"})
    every, some = found.relevance(Flow()), found.relevance(Flow(floor=floor))
    assert len(some.attention) == len(every.attention[floor:])
    assert all(map(torch.equal, some.attention, every.attention[floor:]))
    assert some.states == ()


def test_below_its_floor_no_rule_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    found = traced("bert", Task.SEQUENCE, {"relevance"})
    asked: list[str] = []
    shares = Sweep.shares

    def counted(sweep: Sweep, op: Operation, *given: Any) -> Any:
        asked.append(op.kind)
        return shares(sweep, op, *given)

    monkeypatch.setattr(Sweep, "shares", counted)
    found.relevance(Flow(floor=-1))
    assert asked.count("attend") == 1
    assert "softmax" not in asked
    assert (
        asked.count("linear") == 5
    )  # classifier, pooler, two of the feed-forward, the output of the heads


def test_tensors_are_added_with_their_signs() -> None:
    one, two = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0])
    assert sum_of([one, two], [1.0, -1.0]).tolist() == [-9.0, -18.0]
    assert sum_of([one], [-1.0]).tolist() == [-1.0, -2.0]


def test_relevance_is_scaled_to_a_sum_and_nothing_stays_nothing() -> None:
    relevance = torch.tensor([[[1.0, 3.0]], [[2.0, -2.0]]], dtype=torch.float64)
    found = summing_to(torch.tensor([2.0, 5.0], dtype=torch.float64), relevance)
    torch.testing.assert_close(found[0], relevance[0] / 2)
    assert not found[1].any()


def test_a_gate_needs_a_product_of_attention_in_every_layer() -> None:
    found = traced("bert", Task.SEQUENCE, {"relevance"}).forward
    board = Switchboard(3, attended=2)
    halved = replace(found, captured=replace(found.captured, board=board))
    flow = Flow(gate=plain_gate(HeadMask.full(3, 4)))
    goal = traced("bert", Task.SEQUENCE, {"relevance"}).goal
    with pytest.raises(UnsupportedModel, match="3 attention maps were seen, but 2 products"):
        send_relevance(halved, goal, flow)


def test_smeared_relevance_starts_equally_at_every_token_of_the_last_layer() -> None:
    found = traced("bert", Task.SEQUENCE, {"relevance"})
    smeared = found.relevance(Flow(is_smeared=True)).hidden[-1]
    for row, length in enumerate(found.inputs.lengths.tolist()):
        own = smeared[row, :length]
        torch.testing.assert_close(own, own[:1].expand_as(own))
        assert not smeared[row, length:].any()
