"""Memory is used again when nobody uses it, and never while somebody does."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import headlight
from headlight import Batch
from headlight.models.model import Task
from headlight.running import kept_memory
from headlight.running.kept_memory import KeptMemory, converted, is_used, new_memory
from tests.networks import network, rows


@pytest.fixture(autouse=True)
def kept(monkeypatch: pytest.MonkeyPatch) -> KeptMemory:
    own = KeptMemory()
    monkeypatch.setattr(kept_memory, "KEPT", own)
    return own


def weights(seed: int) -> list[Tensor]:
    """Tensors of every kind: in order or not, empty, a single number, a weight."""
    torch.manual_seed(seed)
    plain = torch.randn(3, 5), torch.randn(4, 7).t(), torch.empty(0, 3), torch.randn(())
    return [*plain, nn.Parameter(torch.randn(9))]


def test_copies_have_the_numbers_of_their_tensors() -> None:
    for seed in range(3):
        tensors = weights(seed)
        for tensor, copy in zip(tensors, converted(tensors, torch.float64), strict=True):
            assert copy.dtype == torch.float64
            assert not copy.requires_grad
            assert copy.shape == tensor.shape
            assert torch.equal(copy, tensor.detach().double())


def test_memory_that_nobody_uses_is_used_again(kept: KeptMemory) -> None:
    first = kept.take(1000)
    place = first.data_ptr()
    del first
    assert kept.take(800).data_ptr() == place
    assert kept.take(2000).data_ptr() != place


def in_a_graph(memory: Tensor) -> object:
    numbers = memory[:8].view(torch.float64)
    return (torch.ones(1, dtype=torch.float64, requires_grad=True) * numbers).grad_fn


USES: dict[str, Callable[[Tensor], object]] = {
    "itself": lambda memory: memory,
    "a part": lambda memory: memory[3:5],
    "a weight": lambda memory: nn.Parameter(memory[:8].view(torch.float64), requires_grad=False),
    "an array": lambda memory: memory[8:].numpy(),
    "a part of an array": lambda memory: memory.numpy()[2:4],
    "a graph": in_a_graph,
    "its storage": lambda memory: memory.untyped_storage(),
}


@pytest.mark.parametrize("use", USES)
def test_memory_is_not_given_out_while_something_uses_it(use: str, kept: KeptMemory) -> None:
    memory = kept.take(64)
    place = memory.data_ptr()
    user: Any = USES[use](memory)
    del memory
    assert kept.kept is not None
    assert is_used(kept.kept)
    other = kept.take(64)
    assert other.data_ptr() != place
    del user, other
    assert not is_used(kept.kept)


def test_only_a_small_piece_is_kept(kept: KeptMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_memory, "MOST_KEPT", 10)
    assert len(kept.take(11)) == 11
    assert kept.kept is None
    assert not is_used(new_memory(3))


def test_an_earlier_copy_keeps_its_numbers() -> None:
    tensors = weights(0)
    earlier = converted(tensors, torch.float64)
    converted(weights(1), torch.float64)
    for tensor, copy in zip(tensors, earlier, strict=True):
        assert torch.equal(copy, tensor.detach().double())


def test_relevance_follows_weights_that_were_changed_in_any_way() -> None:
    net = network("bert", Task.SEQUENCE)
    wrapped, batch = headlight.wrap(net), Batch.from_ids(rows()[0])
    before = headlight.explain(wrapped, batch, "lrp").scores
    net.get_parameter("bert.encoder.layer.0.output.dense.weight").data *= 2
    changed = headlight.explain(wrapped, batch, "lrp").scores
    assert not np.allclose(before, changed, rtol=1e-3)
    expected = headlight.explain(headlight.wrap(net), batch, "lrp").scores
    np.testing.assert_array_equal(changed, expected)


def test_threads_do_not_share_memory() -> None:
    nets = [network("bert", Task.SEQUENCE, seed=seed) for seed in range(2)]
    models, batch = [headlight.wrap(net) for net in nets], Batch.from_ids(rows())
    expected = [[a.scores for a in headlight.explain(m, batch, "lrp")] for m in models]
    found: list[list[list[np.ndarray]]] = [[], []]

    def explain(number: int) -> None:
        for _ in range(8):
            answers = headlight.explain(models[number], batch, "lrp")
            found[number].append([a.scores for a in answers])

    threads = [threading.Thread(target=explain, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for own, true in zip(found, expected, strict=True):
        assert len(own) == 8
        for scores in own:
            for a, b in zip(scores, true, strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-6)
