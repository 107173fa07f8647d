"""The steps of a modifiable pass: their values, their derivatives, and what a modification does to them."""

import torch
from torch import Tensor
from torch.nn.functional import gelu, layer_norm, scaled_dot_product_attention

from headlight.trace.relevance.modifications import Modification
from headlight.trace.relevance.steps import (
    Activation,
    Factor,
    Gated,
    LayerNorm,
    Softmax,
    Steering,
    Tempered,
    TemperedAttention,
)

torch.manual_seed(0)
X = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
UP = torch.randn(2, 3, 4, dtype=torch.float64)


def back(result: Tensor, *inputs: Tensor) -> tuple[Tensor, ...]:
    return torch.autograd.grad(result, inputs, UP, retain_graph=True)


def test_a_factor_is_asked_for_when_the_gradient_comes() -> None:
    steering = Steering()
    y = Factor.apply(steering, "value", X)
    torch.testing.assert_close(back(y, X)[0], UP)
    with steering.by(Modification(value=0.5)):
        torch.testing.assert_close(back(y, X)[0], UP / 2)
    torch.testing.assert_close(back(y, X)[0], UP)


def test_a_factor_of_zero_ends_the_gradient() -> None:
    steering = Steering()
    y = Factor.apply(steering, "query", X) + X
    with steering.by(Modification(query=0.0)):
        torch.testing.assert_close(back(y, X)[0], UP)


def test_an_activation_goes_back_by_its_derivative_or_by_its_ratio() -> None:
    steering = Steering()
    with torch.no_grad():
        start = X.clone()
        start[0, 0, 0] = 0
    x = start.requires_grad_()
    y = Activation.apply(steering, gelu, x)
    torch.testing.assert_close(y, gelu(x))
    torch.testing.assert_close(back(y, x), back(gelu(x), x))
    with steering.by(Modification(ratio_activations=True)):
        (found,) = back(y, x)
    expected = torch.where(x == 0, 0.0, UP * gelu(x) / x)
    torch.testing.assert_close(found, expected.detach())


def test_a_gated_product_is_one_step() -> None:
    steering = Steering()
    x, u = (
        X.detach().requires_grad_(),
        torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True),
    )
    y = Gated.apply(steering, gelu, x, gelu(x).detach(), u)
    torch.testing.assert_close(y, gelu(x) * u)
    torch.testing.assert_close(back(y, x, u), back(gelu(x) * u, x, u))
    with steering.by(Modification(ratio_activations=True, gate=0.25, gated=0.75)):
        found = back(y, x, u)
    expected = (0.25 * UP * u * gelu(x) / x, 0.75 * UP * gelu(x))
    torch.testing.assert_close(found, tuple(value.detach() for value in expected))
    with steering.by(Modification(gate=0.0)):
        both = torch.autograd.grad(y, (x, u), UP, retain_graph=True, allow_unused=True)
    assert both[0] is None
    torch.testing.assert_close(both[1], (UP * gelu(x)).detach())


def test_a_layer_norm_goes_back_by_its_derivative_or_with_a_constant_deviation() -> None:
    steering = Steering()
    weight, bias = torch.rand(4).double(), torch.rand(4).double()
    y = LayerNorm.apply(steering, X, (4,), weight, bias, 1e-5)
    plain = layer_norm(X, (4,), weight, bias, 1e-5)
    torch.testing.assert_close(y, plain)
    torch.testing.assert_close(back(y, X), back(plain, X))
    centred = X - X.mean(-1, keepdim=True)
    deviation = (centred.square().mean(-1, keepdim=True) + 1e-5).sqrt().detach()
    with steering.by(Modification(constant_norms=True)):
        torch.testing.assert_close(back(y, X), back(centred / deviation * weight + bias, X))


def test_a_softmax_goes_back_at_another_temperature_only_in_attention() -> None:
    steering, seen = Steering(), Softmax()
    y = Tempered.apply(steering, seen, -1, torch.softmax(X, -1), X)
    plain = back(torch.softmax(X, -1), X)
    with steering.by(Modification(temperature=2.0)):
        torch.testing.assert_close(back(y, X), plain)
        seen.is_attention = True
        torch.testing.assert_close(back(y, X), back(2 * torch.softmax(X / 2, -1), X))
    torch.testing.assert_close(back(y, X), plain)


def test_fused_attention_goes_back_as_the_written_out_one_at_another_temperature() -> None:
    steering = Steering()
    q, k, v = (torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True) for _ in range(3))

    def attend(q: Tensor, k: Tensor, v: Tensor, share: float = 1.0) -> Tensor:
        return scaled_dot_product_attention(q, k, v, scale=share / 2)

    y = TemperedAttention.apply(steering, attend, attend(q, k, v), q, k, v)
    torch.testing.assert_close(back(y, q, k, v), back(attend(q, k, v), q, k, v))
    scores = q @ k.transpose(1, 2) / 2
    hot = 3 * torch.softmax(scores / 3, -1)
    weights = torch.softmax(scores, -1).detach()
    written = weights @ v + (hot - hot.detach()) @ v.detach()
    expected = [f * g for f, g in zip((0.25, 0.5, 0.75), back(written, q, k, v), strict=True)]
    with steering.by(Modification(query=0.25, key=0.5, value=0.75, temperature=3.0)):
        torch.testing.assert_close(list(back(y, q, k, v)), expected)


def test_steering_is_plain_again_after_an_error() -> None:
    steering = Steering()
    try:
        with steering.by(Modification(value=0.5)):
            raise KeyError
    except KeyError:
        pass
    assert steering.modification is None
