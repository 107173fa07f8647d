"""Blocks computed again on the way back give the same numbers, and keep less."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

import headlight
from headlight import METHODS, Batch, InvalidInput, Target
from headlight.models.model import Model, Task
from headlight.running.footprint import footprint
from headlight.trace.recompute import can_recompute
from headlight.trace.trace import traces
from tests.networks import in_pairs, model, rows

NAMES = ["attn_lrp", "gim", "input_x_gradient", "attcat", "gae"]


def kept(wrapped: Model, *, recomputes: bool) -> int:
    sizes: list[int] = []

    def see(tensor: Tensor) -> Tensor:
        sizes.append(tensor.numel())
        return tensor

    batch = Batch.from_ids(rows()[1]).rows
    with saved_tensors_hooks(see, lambda tensor: tensor):
        list(
            traces(
                wrapped, batch, [[Target(label=1)]], {"modified_gradient"}, recomputes=recomputes
            )
        )
    return sum(sizes)


@pytest.mark.parametrize("name", NAMES)
def test_a_row_that_would_not_fit_gives_the_same_scores(name: str) -> None:
    wrapped, batch = model("llama", Task.CAUSAL, torch.float64), Batch.from_ids(rows()[1])
    plain = headlight.explain(wrapped, batch, name, 1)
    needs = METHODS[name].needs
    most, least = (
        footprint(wrapped, needs, recomputes=r).of(len(rows()[1])) for r in (False, True)
    )
    assert least < most
    tight = headlight.explain(wrapped, batch, name, 1, memory=(most + least) // 2)
    np.testing.assert_array_equal(tight.scores, plain.scores)


def test_a_row_that_fits_by_no_means_is_refused_before_it_runs() -> None:
    wrapped = model("llama", Task.CAUSAL)
    with pytest.raises(
        InvalidInput, match=r"attcat on 6 tokens.*would take about.*memory=.*stride="
    ):
        headlight.explain(wrapped, Batch.from_ids([5, 6, 7, 8, 9, 10]), "attcat", 1, memory=10)


def test_less_is_kept() -> None:
    wrapped = model("llama", Task.CAUSAL)
    assert kept(wrapped, recomputes=True) < kept(wrapped, recomputes=False) / 3


@in_pairs()
def test_every_known_family_can(family: str, task: Task) -> None:
    wrapped = model(family, task, torch.float64)
    assert can_recompute(wrapped, {"modified_gradient"})
    batch = Batch.from_ids(rows()[1])
    targets = [[Target(position=1) if task in (Task.TOKEN, Task.MASKED) else Target()]]
    one, two = (
        next(iter(traces(wrapped, batch.rows, targets, {"modified_gradient"}, recomputes=r)))
        for r in (False, True)
    )
    torch.testing.assert_close(one.gradients().embeddings, two.gradients().embeddings)


def test_what_is_watched_inside_blocks_is_not_lost() -> None:
    assert not can_recompute(model("bert", Task.SEQUENCE), {"relevance"})
    assert not can_recompute(model("bert", Task.SEQUENCE), {"attention"})
    assert not can_recompute(model("deberta-v2", Task.SEQUENCE), {"attention_gradient"})
    assert can_recompute(model("bert", Task.SEQUENCE), {"attention", "hidden_gradient"})
