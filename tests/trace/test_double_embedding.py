"""The network that embeds its embeddings once more, as released code differentiates it."""

import torch

from headlight import Batch, Target
from headlight.models.model import Task
from headlight.trace.double_embedding import embedded_twice, padded
from headlight.trace.trace import trace
from tests.networks import model, network, rows


def test_embeddings_are_fed_back_and_the_probability_is_differentiated() -> None:
    ids = rows(2)
    seen = trace(
        model("bert", Task.SEQUENCE, torch.float64),
        Batch.from_ids(ids).rows,
        [Target(label=1)] * 2,
        {"embedding_gradient"},
    )
    leaves, gradients = embedded_twice(seen.forward.model, seen.inputs, seen.goal)
    net = network("bert", Task.SEQUENCE).double()
    for number, own in enumerate(ids):
        leaf = net.bert.embeddings(torch.tensor([own])).detach().requires_grad_()  # type: ignore[operator, union-attr]
        chance = net(inputs_embeds=leaf).logits.softmax(-1)[0, 1]
        (expected,) = torch.autograd.grad(chance, leaf)
        torch.testing.assert_close(leaves[number, : len(own)], leaf[0].detach())
        torch.testing.assert_close(gradients[number, : len(own)], expected[0])
        assert not leaves[number, len(own) :].any()
        assert not gradients[number, len(own) :].any()


def test_rows_are_filled_up_with_zeros_in_at_least_32_bits() -> None:
    found = padded(torch.ones(1, 2, 3, dtype=torch.float16), 4)
    assert (found.dtype, found.shape) == (torch.float32, (1, 4, 3))
    assert found[0].sum(-1).tolist() == [3, 3, 0, 0]
