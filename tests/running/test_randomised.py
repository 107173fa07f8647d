"""Weights that are drawn anew: from the head down, the same each time, and never in the model itself."""

from itertools import pairwise

import pytest
import torch

from headlight import Model
from headlight.running.randomised import randomised


def test_weights_are_drawn_anew_from_the_head_down(classifier: Model) -> None:
    before = {name: p.clone() for name, p in classifier.network.named_parameters()}
    changed: list[set[str]] = []
    for depth in range(1, len(classifier.blocks) + 2):
        other = dict(randomised(classifier, depth).network.named_parameters())
        changed.append({n for n, p in other.items() if not torch.equal(p, before[n])})
        again = dict(randomised(classifier, depth).network.named_parameters())
        assert all(torch.equal(p, again[n]) for n, p in other.items())
    assert any("classifier" in name for name in changed[0])
    assert not any("layer" in name for name in changed[0])
    assert all(one < other for one, other in pairwise(changed))
    assert all(torch.equal(p, before[n]) for n, p in classifier.network.named_parameters())


def test_drawn_weights_have_the_mean_and_spread_of_the_old(classifier: Model) -> None:
    before = classifier.network.state_dict()
    depth = len(classifier.blocks) + 1
    for name, drawn in randomised(classifier, depth).network.state_dict().items():
        if drawn.numel() > 500 and not torch.equal(drawn, before[name]):
            noise = 5 * float(before[name].std()) / drawn.numel() ** 0.5
            assert float(drawn.mean()) == pytest.approx(float(before[name].mean()), abs=noise)
            assert float(drawn.std()) == pytest.approx(float(before[name].std()), rel=0.2)
