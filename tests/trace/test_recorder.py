"""What a recorder has seen becomes what was captured."""

import torch

from headlight.trace.recorder import RECORDER, Captured, Recorder, Wants


def test_nothing_is_recorded_outside_of_passes() -> None:
    assert RECORDER.get() is None


def test_embeddings_are_a_leaf_and_the_network_gets_a_copy() -> None:
    recorder = Recorder(Wants(gradient=True))
    given = recorder.see_embeddings(torch.nn.Identity(), (), torch.ones(1, 2, 3))
    assert recorder.embeddings is not None
    assert recorder.embeddings.is_leaf
    assert recorder.embeddings.requires_grad
    given.mul_(2)
    assert recorder.embeddings.sum() == 6
    assert recorder.captured().depth == 0


def test_what_carries_the_graph_of_attention_are_its_weights_unless_it_is_fused() -> None:
    weights = (torch.ones(1, 1, 2, 2),)
    assert Captured(torch.ones(1, 2, 3), attention=weights).mixed == weights
