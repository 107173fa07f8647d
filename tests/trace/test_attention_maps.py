"""Attention maps made when they are read: their weights and gradients, and that nobody keeps them."""

import pytest
import torch
from torch import Tensor

from headlight.trace.attention_maps import Attended, OnDemand, shared_out, written_weights


@pytest.fixture(params=[None, 5.0])
def attended(request: pytest.FixtureRequest) -> tuple[Attended, Tensor]:
    """Attention of four heads that share two keys and values, and its weights with their graph."""
    torch.manual_seed(0)
    query = torch.randn(2, 4, 3, 5, dtype=torch.float64)
    key, value = (torch.randn(2, 2, 3, 5, dtype=torch.float64) for _ in range(2))
    mask = torch.full((2, 1, 3, 3), -torch.inf).double().triu(1)
    keys = torch.stack([key[:, head // 2] for head in range(4)], 1)
    values = torch.stack([value[:, head // 2] for head in range(4)], 1)
    scores = torch.einsum("bhqw,bhkw->bhqk", query, keys) * 0.3
    if request.param is not None:
        scores = request.param * torch.tanh(scores / request.param)
    weights = torch.softmax(scores + mask, -1).requires_grad_()
    result = weights @ values
    return Attended(query, key, value, mask, 0.3, request.param, result), weights


def test_weights_are_made_again(attended: tuple[Attended, Tensor]) -> None:
    made, weights = attended
    torch.testing.assert_close(made.weights(), weights.detach())
    assert made.size == (3, 3)


def test_their_gradient_follows_from_that_of_the_result(attended: tuple[Attended, Tensor]) -> None:
    made, weights = attended
    value = (made.result**3).sum()
    at_result, at_weights = torch.autograd.grad(value, (made.result, weights))
    torch.testing.assert_close(made.gradient(at_result), at_weights)


def test_items_are_made_each_time_they_are_read() -> None:
    made: list[int] = []

    def maker(number: int) -> int:
        made.append(number)
        return 10 * number

    several = OnDemand(tuple(lambda n=n: maker(n) for n in range(4)))  # type: ignore[misc]
    assert (len(several), made) == (4, [])
    assert (several[-1], several[-1], made) == (30, 30, [3, 3])
    assert (list(several[1:3]), made[2:]) == ([10, 20], [1, 2])
    assert list(several) == [0, 10, 20, 30]
    assert not OnDemand(())


def test_weights_are_computed_in_32_bits_at_least() -> None:
    query = torch.randn(1, 1, 2, 4).to(torch.bfloat16)
    weights = written_weights(query, query, None, 0.5, None)
    wide = torch.softmax((query @ query.transpose(2, 3) * 0.5).float(), -1)
    assert weights.dtype == torch.bfloat16
    assert torch.equal(weights, wide.to(torch.bfloat16))
    assert shared_out(query, query) is query
