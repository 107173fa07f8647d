"""Gradients at points, in passes that share tokens, and noise that does not depend on neighbours."""

import pytest
import torch

from headlight import Batch, Target
from headlight.methods import points
from headlight.methods.points import generators, gradients_at, groups, noise, slopes_at
from headlight.models.model import Task
from headlight.trace.trace import Trace, trace
from tests.networks import model, rows


def traced(*ids: list[int]) -> Trace:
    own = model("bert", Task.SEQUENCE, torch.float64)
    return trace(own, Batch.from_ids(list(ids)).rows, [Target(label=1)] * len(ids), {"replay"})


def test_groups_fill_a_pass_and_leave_none_out(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = traced(*rows(2))
    monkeypatch.setattr(points, "TOKENS_AT_ONCE", 3 * seen.inputs.ids.numel())
    assert [(g.start, g.stop) for g in groups(seen, 7)] == [(0, 3), (3, 6), (6, 7)]
    monkeypatch.setattr(points, "TOKENS_AT_ONCE", 1)
    assert [(g.start, g.stop) for g in groups(seen, 2)] == [(0, 1), (1, 2)]


def test_slopes_do_not_depend_on_how_points_share_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = traced(*rows(2))
    given = torch.stack([seen.embeddings * factor for factor in (0.5, 1.0, 1.5)])
    gradients, values = slopes_at(seen, given)
    monkeypatch.setattr(points, "TOKENS_AT_ONCE", 1)
    apart = slopes_at(seen, given)
    torch.testing.assert_close((gradients, values), apart)
    torch.testing.assert_close(
        values[1], seen.goal.value(seen.logits.detach(), seen.inputs.present)
    )
    step = 1e-6 * gradients[0].sign()
    with torch.no_grad():
        ends = [seen.replay(given[0] + side * step) for side in (1, -1)]
    torch.testing.assert_close(
        (ends[0] - ends[1]) / 2e-6, gradients[0].abs().sum((1, 2)), rtol=1e-5, atol=1e-7
    )
    torch.testing.assert_close(gradients_at(seen, given), gradients)


def test_noise_is_by_seed_and_row_and_none_at_padding() -> None:
    short, long = rows(2)
    together, alone = traced(short, long), traced(short)
    found = noise(together, 3, seed=5)
    assert not found[:, 0, len(short) :].any()
    torch.testing.assert_close(found[:, :1, : len(short)], noise(alone, 3, seed=5))
    assert not torch.allclose(found, noise(together, 3, seed=6))
    first, second = generators(together, 0)
    assert first.initial_seed() != second.initial_seed()
