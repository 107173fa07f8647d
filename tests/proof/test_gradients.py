"""The shared sweep of the proofs gives the gradients that single sweeps give, and is made once."""

from dataclasses import replace

import pytest
import torch

from headlight.models.model import Task
from headlight.proof.gradients import in_64_bits, mixture, probe_gradients
from headlight.proof.probes import inputs_of, probe_rows
from headlight.proof.proof import watch
from headlight.trace.forward import Pass
from headlight.trace.readout import gradient_of
from tests.networks import model


@pytest.fixture
def watched() -> Pass:
    wrapped = model("bert", Task.SEQUENCE, torch.float64)
    return watch(wrapped, inputs_of(wrapped, probe_rows(wrapped)[:1]), attention=True)


def test_one_sweep_gives_what_a_sweep_for_each_part_gives(watched: Pass) -> None:
    captured, found = watched.captured, probe_gradients(watched)
    value = (watched.logits * mixture(watched.logits.shape, watched.logits)).sum()
    parts = [captured.embeddings, captured.last, *captured.hidden, *captured.mixed]
    gradients = [found.embeddings, found.last, *found.hidden, *found.attention]
    for part, gradient in zip(parts, gradients, strict=True):
        assert part is not None
        assert gradient is not None
        torch.testing.assert_close(in_64_bits(gradient, part), gradient_of(value, part))


def test_the_sweep_is_made_once(watched: Pass) -> None:
    assert probe_gradients(watched) is probe_gradients(watched)


def test_a_part_that_the_logits_do_not_depend_on_has_no_gradient(watched: Pass) -> None:
    beside = torch.ones(1, 2, requires_grad=True)
    without = torch.ones(1, 2)
    captured = replace(watched.captured, hidden=(beside, without), attention=())
    found = probe_gradients(replace(watched, captured=captured, kept={}))
    assert found.hidden == (None, None)
    assert not in_64_bits(None, beside).any()
    assert found.embeddings is not None
