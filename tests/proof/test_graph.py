"""The graph of autograd."""

import torch

from headlight.proof.graph import inputs_of_step, steps_of


def names(result: torch.Tensor) -> list[str]:
    return [type(step).__name__ for step in steps_of(result)]


def test_every_step_is_met_once() -> None:
    x = torch.ones(2, requires_grad=True)
    shared = x * 3
    assert sorted(names(shared.exp() + shared.sin())) == [
        "AccumulateGrad", "AddBackward0", "ExpBackward0", "MulBackward0", "SinBackward0"
    ]  # fmt: skip
    assert names(torch.ones(2)) == []


def test_the_way_can_be_chosen() -> None:
    x, y = (torch.ones(2, requires_grad=True) for _ in range(2))
    first_only = list(steps_of(x.exp() + y.sin(), lambda step: inputs_of_step(step)[:1]))
    assert [type(step).__name__ for step in first_only] == [
        "AddBackward0", "ExpBackward0", "AccumulateGrad"
    ]  # fmt: skip
