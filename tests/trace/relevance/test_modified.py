"""Operations rewritten as they run: the same values and derivatives, and what a modification changes."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from headlight.errors import UnsupportedModel
from headlight.trace.relevance.modifications import MODIFICATIONS, Modification
from headlight.trace.relevance.modified import modifiable
from headlight.trace.relevance.steps import Steering

torch.manual_seed(0)
X = torch.randn(2, 3, 4, dtype=torch.float64)
Y = torch.randn(2, 3, 4, dtype=torch.float64)
ATTN_LRP = MODIFICATIONS["attn_lrp"]


def gradients(
    function: Callable[[Tensor, Tensor], Tensor], modification: Modification | None = None
) -> tuple[Tensor, ...]:
    """The gradients of the sum of a function's result, from a modifiable pass."""
    x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
    steering = Steering()
    with modifiable(nn.Identity(), steering):
        result = function(x, y)
    with steering.by(modification):
        return torch.autograd.grad(result.sum(), (x, y), allow_unused=True, materialize_grads=True)


def plain(function: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, ...]:
    x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
    return torch.autograd.grad(
        function(x, y).sum(), (x, y), allow_unused=True, materialize_grads=True
    )


def by_hand_gelu(x: Tensor) -> Tensor:
    return x * 0.5 * (1 + torch.erf(x / 2**0.5))


FUNCTIONS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "gated product": lambda x, y: torch.nn.functional.silu(x) * y,
    "product in place": lambda x, y: x.clone().mul_(y),
    "root mean square": lambda x, _: x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt(),
    "layer norm": lambda x, _: torch.nn.functional.layer_norm(x, (4,)),
    "rms norm": lambda x, _: torch.nn.functional.rms_norm(x, (4,)),
    "activation in place": lambda x, _: torch.nn.functional.relu(x.clone(), inplace=True),
    "written-out activation": lambda x, _: by_hand_gelu(x),
    "attention": lambda x, y: torch.softmax(x @ y.transpose(1, 2), -1) @ y,
    "attention by einsum": lambda x, y: torch.einsum(
        "bqk,bkd->bqd", torch.softmax(torch.einsum("bqd,bkd->bqk", x, y), -1), y
    ),
    "fused attention": lambda x, y: scaled_dot_product_attention(x, y, y, scale=1.0),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_plain_gradient_is_the_derivative(name: str) -> None:
    torch.testing.assert_close(gradients(FUNCTIONS[name]), plain(FUNCTIONS[name]))


@pytest.mark.parametrize("name", ["attention", "attention by einsum"])
@pytest.mark.parametrize("modification", ["attn_lrp", "gim", "libragrad"])
def test_attention_is_modified_alike_in_every_spelling(name: str, modification: str) -> None:
    asked = MODIFICATIONS[modification]
    torch.testing.assert_close(
        gradients(FUNCTIONS[name], asked), gradients(FUNCTIONS["fused attention"], asked)
    )


def test_products_are_shared_in_halves_and_gates_as_asked() -> None:
    gate = torch.nn.functional.silu(X)
    found = gradients(FUNCTIONS["gated product"], ATTN_LRP)
    torch.testing.assert_close(found, (0.5 * Y * gate / X, 0.5 * gate))
    torch.testing.assert_close(
        gradients(FUNCTIONS["gated product"], MODIFICATIONS["cp_lrp"]), (torch.zeros_like(X), gate)
    )
    torch.testing.assert_close(
        gradients(FUNCTIONS["product in place"], ATTN_LRP), (0.5 * Y, 0.5 * X)
    )


@pytest.mark.parametrize("name", ["root mean square", "rms norm"])
def test_norms_keep_their_denominator(name: str) -> None:
    root = (X.square().mean(-1, keepdim=True) + (1e-6 if name[1] == "o" else 2.0**-52)).rsqrt()
    torch.testing.assert_close(gradients(FUNCTIONS[name], ATTN_LRP)[0], root.expand_as(X))


def test_a_written_out_activation_goes_back_by_its_ratio() -> None:
    found = gradients(FUNCTIONS["written-out activation"], ATTN_LRP)[0]
    torch.testing.assert_close(found, by_hand_gelu(X) / X)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda x, y: torch.sin(x) + y, "'sin'"),
        (lambda x, y: x @ y.transpose(1, 2), "not attention"),
        (lambda x, y: torch.einsum("btd,btd,btd->bt", x, y, x), "more than two values"),
    ],
)
def test_what_has_no_rule_is_refused_when_a_modified_gradient_reaches_it(
    function: Callable[[Tensor, Tensor], Tensor], said: str
) -> None:
    torch.testing.assert_close(gradients(function), plain(function))
    with pytest.raises(UnsupportedModel, match=said):
        gradients(function, ATTN_LRP)


class Cubed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x**3


def test_a_module_is_one_activation_and_is_left_as_found() -> None:
    net, steering = nn.Sequential(Cubed()), Steering()
    x = X.clone().requires_grad_()
    with modifiable(net, steering):
        result = net(x)
    with steering.by(ATTN_LRP):
        (found,) = torch.autograd.grad(result.sum(), x)
    torch.testing.assert_close(found, X**2)
    assert "forward" not in vars(net[0])


# ------------------------------------------------------------------------------------- oracles


def half(value: Tensor) -> Tensor:
    """The same value, with half its gradient."""
    return 0.5 * value + 0.5 * value.detach()


def by_ratio(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """An activation that goes back by g(x)/x."""
    return lambda x: x * (function(x) / x).detach()


def capped(scores: Tensor) -> Tensor:
    return 2 * torch.tanh(scores / 2)


SINK = torch.tensor([0.3, -0.2, 0.9], dtype=torch.float64).expand(2, 3).unsqueeze(-1)


def with_sink(scores: Tensor) -> Tensor:
    """Attention weights whose softmax has one more place, as gpt-oss has; its share goes nowhere."""
    return torch.softmax(torch.cat([scores, SINK], -1), -1)[..., :-1]


ATTENTION: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]] = {
    "sink": (with_sink, with_sink),
    "cap": (
        lambda s: torch.softmax(capped(s), -1),
        lambda s: torch.softmax(by_ratio(capped)(s), -1),
    ),
    "mask": (
        lambda s: torch.softmax(torch.where(torch.ones(3, 3).tril() > 0, s, -1e9), -1),
        lambda s: torch.softmax(s.masked_fill(torch.ones(3, 3).tril() == 0, -1e9), -1),
    ),
    "positions": (
        lambda s: torch.softmax(s + torch.arange(3.0), -1).type_as(s),
        lambda s: torch.softmax(s + torch.arange(3.0), -1),
    ),
}


@pytest.mark.parametrize("name", ATTENTION)
def test_what_is_done_to_scores_is_followed(name: str) -> None:
    written, oracle = ATTENTION[name]
    found = gradients(lambda x, y: written(x @ y.transpose(1, 2)) @ y, ATTN_LRP)
    torch.testing.assert_close(
        found, plain(lambda x, y: half(oracle(half(x) @ half(y).transpose(1, 2))) @ half(y))
    )


def test_scores_that_are_added_to_positions_in_one_step_are_followed() -> None:
    def attention(x: Tensor, y: Tensor) -> Tensor:
        positions = torch.arange(3.0, dtype=torch.float64).expand(2, 3, 3)
        scores = positions.baddbmm(batch1=x, batch2=y.transpose(1, 2), beta=1.0, alpha=0.5)
        return torch.softmax(scores, -1) @ y

    def oracle(x: Tensor, y: Tensor) -> Tensor:
        scores = torch.arange(3.0) + 0.5 * (half(x) @ half(y).transpose(1, 2))
        return half(torch.softmax(scores, -1)) @ half(y)

    torch.testing.assert_close(gradients(attention, ATTN_LRP), plain(oracle))


# ------------------------------------------------------------------------ mixtures of experts


def routed(x: Tensor, y: Tensor) -> Tensor:
    """Two of four experts, which multiply by constants, weighed by a router that reads x."""
    weights, chosen = torch.topk(torch.softmax(x, -1), 2, -1)
    weights = weights / weights.sum(-1, keepdim=True)
    expert = torch.arange(1.0, 5, dtype=torch.float64)[chosen]
    result = torch.zeros_like(y)
    for number in range(2):
        place = torch.arange(3)
        result.index_add_(1, place, (y * expert[..., number, None]) * weights[..., number, None])
    return result


def test_a_router_shares_with_its_experts_as_attention_weights_with_values() -> None:
    as_experts = plain(lambda x, y: routed(x.detach(), y))[1]
    (_, whole) = plain(routed)
    torch.testing.assert_close(whole, as_experts)
    for name, to_experts in (("attn_lrp", 0.5), ("gim", 0.5), ("libragrad", 1.0), ("cp_lrp", 1.0)):
        router, experts = gradients(routed, MODIFICATIONS[name])
        torch.testing.assert_close(experts, to_experts * as_experts)
        assert bool(router.any()) == (to_experts < 1), name
    torch.testing.assert_close(
        gradients(lambda x, y: torch.softmax(x, -1) * y, ATTN_LRP)[0],
        plain(lambda x, y: half(torch.softmax(x, -1)) * y)[0],
    )


def test_a_router_that_is_normalised_by_a_product_is_still_a_router() -> None:
    def weighed(x: Tensor, y: Tensor) -> Tensor:
        weights = torch.softmax(x, -1)
        return y * (weights * weights.sum(-1, keepdim=True).reciprocal())

    torch.testing.assert_close(
        gradients(weighed, MODIFICATIONS["libragrad"]), (torch.zeros_like(X), torch.softmax(X, -1))
    )


# ----------------------------------------------------------------- activations that are written out


def by_hand_tanh_gelu(x: Tensor) -> Tensor:
    return 0.5 * x * (1 + torch.tanh(0.7978845608 * (x + 0.044715 * torch.pow(x, 3))))


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "x σ(1.7 x)": lambda x: x * torch.sigmoid(1.7 * x),
    "GELU by tanh": by_hand_tanh_gelu,
    "squared ReLU": lambda x: torch.relu(x) ** 2,
    "clipped": lambda x: x.clamp(-0.5, 0.5),
    "clipped in place": lambda x: x.clone().clamp_(max=0.5),
    "gate of gpt-oss": lambda x: x.clamp(max=1.0) * torch.sigmoid(x.clamp(max=1.0) * 1.7),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_of_several_steps_is_one(name: str) -> None:
    written = ACTIVATIONS[name]
    torch.testing.assert_close(gradients(lambda x, _: written(x), ATTN_LRP)[0], written(X) / X)
    for modification in (
        None,
        MODIFICATIONS["gim"],
    ):  # GIM goes back through activations as derivatives do
        torch.testing.assert_close(
            gradients(lambda x, _: written(x), modification), plain(lambda x, _: written(x))
        )


def test_a_value_that_was_changed_is_not_taken_for_what_it_was() -> None:
    def changed(x: Tensor, y: Tensor) -> Tensor:
        gate = torch.nn.functional.softplus(x)
        gate += y
        return gate * x

    torch.testing.assert_close(gradients(changed), plain(changed))
    torch.testing.assert_close(
        gradients(changed, ATTN_LRP),
        plain(lambda x, y: half(by_ratio(torch.nn.functional.softplus)(x) + y) * half(x)),
    )


def test_a_denominator_that_is_bounded_is_a_constant() -> None:
    def normal(x: Tensor, _: Tensor) -> Tensor:
        return x * (2 / x.norm(dim=-1, keepdim=True).clamp_min(1e-6))

    found = gradients(normal, ATTN_LRP)[0]
    torch.testing.assert_close(found, (2 / X.norm(dim=-1, keepdim=True)).expand_as(X))


def test_a_layer_norm_over_two_axes_keeps_its_denominator() -> None:
    def norm(x: Tensor, y: Tensor) -> Tensor:
        return torch.nn.functional.layer_norm(x, (3, 4)) * y.detach()

    deviation = (X.var((1, 2), unbiased=False, keepdim=True) + 1e-5).sqrt()
    expected = (Y - Y.mean((1, 2), keepdim=True)) / deviation
    torch.testing.assert_close(gradients(norm, ATTN_LRP)[0], expected)


# --------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (
            lambda x, y: torch.softmax(x, -1) * (x @ y.transpose(1, 2) @ y),
            "not attention",
        ),
        (lambda x, y: torch.sigmoid(x @ y.transpose(1, 2)) @ y, "not attention"),
        (
            lambda x, y: torch.nn.functional.linear(x, y.reshape(6, 4)),
            "'linear' with weights that are computed",
        ),
        (
            lambda x, y: scaled_dot_product_attention(
                y, y, y, attn_mask=x @ torch.ones(4, 3).double()
            ),
            "a mask that is computed",
        ),
        (lambda x, y: x**2 + y, "a power"),
        (lambda x, y: 2**x + y, "'__rpow__'|a power"),
        (
            lambda x, y: (
                torch.softmax(x @ y.transpose(1, 2), -1) @ torch.softmax(y @ x.transpose(1, 2), -1)
            ),
            "not attention",
        ),
    ],
)
def test_what_only_looks_like_a_known_step_is_refused(
    function: Callable[[Tensor, Tensor], Tensor], said: str
) -> None:
    torch.testing.assert_close(gradients(function), plain(function))
    with pytest.raises(UnsupportedModel, match=said):
        gradients(function, ATTN_LRP)


def test_an_activation_that_was_moved_is_not_computed_again_from_its_input() -> None:
    """Queries and features are equally many here, so that only their order differs."""

    def moved(x: Tensor, y: Tensor) -> Tensor:
        gate = torch.nn.functional.silu(x[:, :3, :3]).transpose(1, 2)
        return gate * y[:, :3, :3]

    torch.testing.assert_close(gradients(moved), plain(moved))
    gate = torch.nn.functional.silu(X)
    found = gradients(moved, ATTN_LRP)[0][:, :3, :3]
    expected = 0.5 * Y[:, :3, :3].transpose(1, 2) * (gate / X)[:, :3, :3]
    torch.testing.assert_close(found, expected)
