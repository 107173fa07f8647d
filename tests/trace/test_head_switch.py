"""Heads are zeroed by layer and row, and anything that does not fit is refused."""

import pytest
import torch
from torch import nn

from headlight import UnsupportedModel
from headlight.trace.head_switch import HeadSwitch


def switch(
    *places: tuple[int, int, int], rows: int = 2, layers: int = 2, heads: int = 3
) -> HeadSwitch:
    off = torch.zeros(rows, layers, heads, dtype=torch.bool)
    for place in places:
        off[place] = True
    return HeadSwitch(off, "ToyModel")


def test_each_row_loses_its_own_heads_in_the_layer_that_runs() -> None:
    found, mixed = switch((0, 0, 1), (1, 1, 2)), torch.ones(2, 3, 4, 5)
    first, second = found.applied(mixed, 4), found.applied(mixed, 4)
    assert torch.equal(mixed, torch.ones(2, 3, 4, 5))
    assert [(int(r), int(h)) for r, h in (first.sum((2, 3)) == 0).nonzero()] == [(0, 1)]
    assert [(int(r), int(h)) for r, h in (second.sum((2, 3)) == 0).nonzero()] == [(1, 2)]
    assert found.sizes == [(4, 4), (4, 4)]


def test_values_that_are_not_finite_are_off_too() -> None:
    assert switch((0, 0, 0)).applied(torch.full((2, 3, 1, 1), torch.nan), 1)[0, 0] == 0


def test_attention_beyond_the_layers_or_with_other_heads_is_refused() -> None:
    found = switch(layers=1)
    with pytest.raises(
        UnsupportedModel, match="attends with 2 heads of 2 texts in layer 1, not with 3 of 2"
    ):
        found.applied(torch.ones(2, 2, 4, 4), 4)
    found.applied(torch.ones(2, 3, 4, 4), 4)
    with pytest.raises(
        UnsupportedModel, match="ToyModel: it attends more than once in some of its 1 layers"
    ):
        found.applied(torch.ones(2, 3, 4, 4), 4)


def test_the_layer_that_joins_heads_must_be_given_zeros_for_them() -> None:
    found, joined = switch((0, 0, 1)), nn.Linear(6, 6)
    given = torch.ones(2, 4, 6)
    for is_right in (False, True):
        found.sizes[:] = [(4, 4)]
        given[0, :, 2:4] = 0.0 if is_right else 1.0
        if is_right:
            found.check_joined(joined, (given,))
        else:
            with pytest.raises(UnsupportedModel, match="joins more in layer 1 than the heads that"):
                found.check_joined(joined, (given,))
    for other in (torch.zeros(8, 6), torch.zeros(2, 4, 7), torch.zeros(1, 4, 6)):
        with pytest.raises(UnsupportedModel, match="joins more"):
            found.check_joined(joined, (other,))
    found.sizes.clear()
    with pytest.raises(UnsupportedModel, match="joins more in layer 1"):
        found.check_joined(joined, (given,))
