"""The fingerprint tells networks apart, in whatever precision they are."""

import torch

import headlight
from headlight.models.fingerprint import fingerprint
from headlight.models.model import Task
from tests.networks import model, network


def test_the_fingerprint_is_the_same_in_half_precision() -> None:
    own = fingerprint(model("bert", Task.SEQUENCE))
    assert len(own) == 12
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        assert fingerprint(model("bert", Task.SEQUENCE, dtype)) == own
    other = headlight.wrap(network("bert", Task.SEQUENCE, seed=1))
    assert len({own, fingerprint(other), fingerprint(model("bert", Task.TOKEN))}) == 3
