"""Where a head reads is known exactly from gradients, or refused."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

import headlight
from headlight import Batch, Target, UnsupportedModel
from headlight.models.model import Task
from headlight.trace.readout import (
    BY_CONTENT,
    OTHER_TOKENS,
    UNREAD,
    beside,
    check_reading,
    gradient_of,
    read_place,
    shares_of,
    tolerance,
)
from headlight.trace.trace import Trace, trace
from tests.networks import model
from tests.proof.test_readout import READING, pooled


def test_an_input_that_is_read_elsewhere_than_the_probes_is_refused() -> None:
    def pool(ids: Tensor, states: Tensor, _mask: Tensor) -> Tensor:
        return states[torch.arange(len(states)), (ids == 119).long().argmax(1)]

    wrapped = pooled(pool)
    plain, odd = Batch.from_ids([20, 21, 22, 23]), Batch.from_ids([20, 21, 119, 23])
    assert headlight.explain(wrapped, plain, "gae").target.positions == (0,)
    for method in READING:
        with pytest.raises(
            UnsupportedModel, match=r"reads this input at other tokens.*input_x_grad"
        ):
            headlight.explain(wrapped, odd, method)
    assert headlight.explain(wrapped, odd, "input_x_gradient").scores.shape == (4,)


# --------------------------------------------------------------------------- what gradients tell


def test_weights_are_read_from_rows_along_one_vector() -> None:
    """∂logit/∂h = w v gives w as shares, whatever v is."""
    weights, vector = torch.tensor([0.0, 1.0, 3.0]).double(), torch.tensor([2.0, -1.0]).double()
    found = shares_of(weights[:, None] * vector, 1e-3)
    assert isinstance(found, Tensor)
    torch.testing.assert_close(found, weights / 4)


@pytest.mark.parametrize(
    ("gradient", "why"),
    [
        ([[0.0, 0.0], [0.0, 0.0]], UNREAD),
        ([[1.0, 0.0], [0.0, 1.0]], BY_CONTENT),
        ([[1.0, 0.0], [-1.0, 0.0]], BY_CONTENT),
    ],
)
def test_heads_without_fixed_weights_have_no_shares(gradient: list[list[float]], why: str) -> None:
    assert shares_of(torch.tensor(gradient).double(), 1e-3) == why


@pytest.mark.parametrize(
    ("lengths", "why"),
    [([0.0, 2.0, 0.0], ""), ([0.1, 2.0, 0.0], OTHER_TOKENS), ([0.0, 0.0, 0.0], UNREAD)],
)
def test_a_token_head_reads_its_own_token_alone(lengths: list[float], why: str) -> None:
    gradient = torch.tensor(lengths).double()[None, :, None]
    assert beside(gradient, torch.tensor([1]), 1e-3) == why


def test_a_value_that_depends_on_no_state_has_no_gradient() -> None:
    states = torch.ones(1, 2, 3, requires_grad=True)
    other = torch.ones(2, requires_grad=True)
    found = gradient_of(other.sum(), states)
    assert (found.dtype, found.any()) == (torch.float64, False)  # type: ignore[comparison-overlap]


def test_half_precision_may_be_further_off() -> None:
    assert tolerance(model("bert", Task.SEQUENCE)) == 1e-3
    assert tolerance(model("bert", Task.SEQUENCE, torch.bfloat16)) == 0.05


def passed(needs: set[str], target: Target = Target(label=1)) -> Trace:  # noqa: B008  # frozen
    own = model("bert", Task.SEQUENCE if target.position is None else Task.TOKEN)
    return trace(own, Batch.from_ids([[20, 21, 22]]).rows, [target], needs)


def test_a_head_that_refuses_has_no_place_and_says_why() -> None:
    seen = passed({"attention"})
    assert torch.equal(read_place(seen.goal, seen.forward.model), seen.goal.weights)  # type: ignore[arg-type]
    refusing = replace(
        seen.forward.model, readout=replace(seen.forward.model.readout, refusal=BY_CONTENT)
    )
    with pytest.raises(UnsupportedModel, match="weighs the tokens by their content"):
        read_place(seen.goal, refusing)


def test_a_pass_whose_last_states_were_not_seen_reads_nothing() -> None:
    seen = passed({"attention_gradient"})
    blind = replace(seen.forward, captured=replace(seen.forward.captured, last=None))
    with pytest.raises(UnsupportedModel, match="reads nothing of its last hidden states"):
        check_reading(blind, seen.goal)


def test_a_goal_read_at_another_token_is_refused() -> None:
    seen = passed({"attention_gradient"})
    check_reading(seen.forward, seen.goal)
    assert seen.goal.weights is not None
    moved = replace(seen.goal, weights=seen.goal.weights.roll(1, 1))
    with pytest.raises(UnsupportedModel, match="reads this input at other tokens"):
        check_reading(seen.forward, moved)


def test_a_token_head_is_checked_at_every_position_of_its_goal() -> None:
    seen = passed({"attention_gradient"}, Target(position=1, label=0))
    check_reading(seen.forward, seen.goal)
    elsewhere = seen.forward.captured.last
    assert elsewhere is not None
    mixed = replace(seen.forward, logits=seen.forward.logits + elsewhere.sum())
    with pytest.raises(UnsupportedModel, match=OTHER_TOKENS):
        check_reading(mixed, seen.goal)


def test_maximum_pooling_is_refused_on_the_input_itself() -> None:
    seen = passed({"attention_gradient"})
    last = seen.forward.captured.last
    assert last is not None
    pooled_by_content = replace(seen.forward, logits=last.amax(1)[:, None, :3] + last[:, :1, 3:6])
    with pytest.raises(UnsupportedModel, match=BY_CONTENT):
        check_reading(pooled_by_content, seen.goal)
