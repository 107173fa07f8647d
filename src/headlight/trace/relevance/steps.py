"""Steps of a pass that ask, when a gradient reaches them, how to go back: by the derivative, or modified."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from headlight.running.precision import max_precision
from headlight.trace.relevance.modifications import Modification

Call = Callable[..., Any]


@dataclass(eq=False)
class Steering:
    """What all rewritten steps of a pass share: the modification of the backward pass that is running."""

    modification: Modification | None = None

    @contextmanager
    def by(self, modification: Modification | None) -> Iterator[None]:
        """Go back by a modification inside the block; by the derivative if it is None."""
        self.modification = modification
        try:
            yield
        finally:
            self.modification = None

    def factor(self, step: str) -> float:
        """The factor on the gradient of a step."""
        return 1.0 if self.modification is None else self.modification.factor(step)


class Factor(torch.autograd.Function):
    """A value whose gradient gets the factor of a step."""

    @staticmethod
    def forward(ctx: Any, steering: Steering, step: str, value: Tensor) -> Tensor:
        ctx.set_materialize_grads(False)  # where nothing comes back, nothing goes further
        ctx.steering, ctx.step = steering, step
        return value.view_as(value)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        factor = ctx.steering.factor(ctx.step)
        if factor == 0 or upstream[0] is None:
            return None, None, None  # unlike zeros, this spares the steps before it
        return None, None, upstream[0] if factor == 1 else upstream[0] * factor


class Activation(torch.autograd.Function):
    """z = g(x), which goes back by g′(x), or by z / x (0 where x is 0)."""

    @staticmethod
    def forward(ctx: Any, steering: Steering, function: Call, x: Tensor) -> Tensor:
        ctx.set_materialize_grads(False)
        ctx.steering, ctx.function = steering, function
        ctx.save_for_backward(x)
        z: Tensor = function(x)
        return z

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        (x,) = ctx.saved_tensors
        if upstream[0] is None:
            return None, None, None
        return None, None, through_activation(ctx, x, upstream[0])


def through_activation(ctx: Any, x: Tensor, upstream: Tensor) -> Tensor:
    """The gradient at the input of an activation."""
    modification = ctx.steering.modification
    if modification is not None and modification.ratio_activations:
        wide = x.to(max_precision(x.dtype))
        ratio: Tensor = ctx.function(wide).div_(wide).masked_fill_(wide == 0, 0.0)
        return ratio.mul_(upstream).to(x.dtype)
    with torch.enable_grad():
        leaf = x.detach().requires_grad_()
        (gradient,) = torch.autograd.grad(ctx.function(leaf), leaf, upstream)
    return gradient


class Gated(torch.autograd.Function):
    """z = g(x) ⊙ u as one step, so that g(x) need not be kept: it is computed again on the way back.

    activated: g(x), known already.
    """

    @staticmethod
    def forward(
        ctx: Any, steering: Steering, function: Call, x: Tensor, activated: Tensor, u: Tensor
    ) -> Tensor:
        ctx.set_materialize_grads(False)
        ctx.steering, ctx.function = steering, function
        ctx.save_for_backward(x, u)
        return activated * u

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        x, u = ctx.saved_tensors
        if upstream[0] is None:
            return None, None, None, None, None
        gate, gated = ctx.steering.factor("gate"), ctx.steering.factor("gated")
        at_x = through_activation(ctx, x, u * (upstream[0] * gate)) if gate else None
        at_u = ctx.function(x) * (upstream[0] * gated) if gated else None
        return None, None, at_x, None, at_u


class LayerNorm(torch.autograd.Function):
    """A layer norm, which goes back by its derivative, or with its deviation as a constant."""

    @staticmethod
    def forward(
        ctx: Any,
        steering: Steering,
        x: Tensor,
        shape: Any,
        weight: Tensor | None,
        bias: Tensor | None,
        epsilon: float,
    ) -> Tensor:
        ctx.set_materialize_grads(False)
        z, mean, inverse = torch.native_layer_norm(x, shape, weight, bias, epsilon)
        ctx.steering, ctx.shape = steering, shape
        ctx.save_for_backward(x, mean, inverse, weight, bias)
        return z

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        x, mean, inverse, weight, bias = ctx.saved_tensors
        if upstream[0] is None:
            return None, None, None, None, None, None
        if ctx.steering.factor("norm"):
            back = torch.ops.aten.native_layer_norm_backward
            (gradient, _, _) = back(
                upstream[0], x, ctx.shape, mean, inverse, weight, bias, [True, False, False]
            )
        else:
            wide = upstream[0].to(max_precision(x.dtype))
            scaled = (wide if weight is None else wide * weight) * inverse
            centred = scaled - scaled.mean(tuple(range(-len(ctx.shape), 0)), keepdim=True)
            gradient = centred.to(x.dtype)
        return None, gradient, None, None, None, None


@dataclass(eq=False)
class Softmax:
    """A softmax that was seen; `is_attention` once its result has weighed values."""

    is_attention: bool = False


class Tempered(torch.autograd.Function):
    """The result z of a softmax, which goes back as if its input had been divided by the temperature.

    softmax(x / T) is z^(1/T), normalised, so that x is not needed. The derivative is not divided by T.
    """

    @staticmethod
    def forward(
        ctx: Any, steering: Steering, seen: Softmax, dim: int, z: Tensor, _x: Tensor
    ) -> Tensor:
        ctx.set_materialize_grads(False)
        ctx.steering, ctx.seen, ctx.dim = steering, seen, dim
        ctx.save_for_backward(z)
        return z.view_as(z)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        temperature = ctx.steering.factor("temperature")
        if temperature == 1 or not ctx.seen.is_attention or upstream[0] is None:
            return None, None, None, upstream[0], None
        (z,) = ctx.saved_tensors
        powers = z.to(max_precision(z.dtype)) ** (1 / temperature)
        weights = powers / powers.sum(ctx.dim, keepdim=True)
        share = upstream[0] * weights
        gradient = share - weights * share.sum(ctx.dim, keepdim=True)
        return None, None, None, None, gradient.to(z.dtype)


class TemperedAttention(torch.autograd.Function):
    """The result of fused attention, which goes back as if its softmax had had another temperature."""

    @staticmethod
    def forward(
        ctx: Any, steering: Steering, attend: Call, mixed: Tensor, *given: Tensor
    ) -> Tensor:
        ctx.set_materialize_grads(False)
        ctx.steering, ctx.attend = steering, attend
        ctx.save_for_backward(*given)
        return mixed.view_as(mixed)

    @staticmethod
    def backward(ctx: Any, *upstream: Tensor | None) -> tuple[Tensor | None, ...]:
        if ctx.steering.factor("temperature") == 1 or upstream[0] is None:
            return None, None, upstream[0], *[None] * len(ctx.saved_tensors)
        leaves = [tensor.detach().requires_grad_() for tensor in ctx.saved_tensors]
        with torch.enable_grad():
            mixed = tempered(ctx.attend, ctx.steering.modification, *leaves)
        gradients = torch.autograd.grad(mixed, leaves, upstream[0], allow_unused=True)
        return None, None, None, *gradients


def tempered(
    attend: Call, modification: Modification, query: Tensor, key: Tensor, value: Tensor
) -> Tensor:
    """A value with the modified gradients of attention at a temperature T; only its gradients are used.

    Values by one call and weights by another: T · attention(q, k, v̄) with scores divided by T goes back by
    T · ∂softmax(s / T)/∂s, which is the rule without the division by T.
    """
    temperature = modification.temperature
    by_value = attend(query.detach(), key.detach(), value)
    by_weights = temperature * attend(
        scaled(query, modification.query),
        scaled(key, modification.key),
        value.detach(),
        1 / temperature,
    )
    total: Tensor = modification.value * by_value + by_weights
    return total


def scaled(value: Tensor, factor: float) -> Tensor:
    """The same value, with a factor on its gradient."""
    return value * factor + (1 - factor) * value.detach()
