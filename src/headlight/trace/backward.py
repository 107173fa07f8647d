"""A sweep back from the explained values, whose gradients neither overflow nor vanish in float16."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from headlight.running.precision import max_precision
from headlight.shapes import PerRow

STARTS = (8, 0, -8, -16)
"""The powers of 2 that the largest gradient of a row's logits gets in float16, the first that stays finite.

Numbers in float16 end at 65504 and lose digits below 6e-5.
"""


def swept_back(
    value: Callable[[Tensor], PerRow], logits: Tensor, tensors: Sequence[Tensor]
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The gradients of the value of every row, multiplied by the row's scale; and these scales.

    Gradients are linear in what they start from, also modified ones, and rows do not depend on each other. So
    in float16 a row may start from any multiple, and the caller divides in more bits. Other types have scales
    of 1.
    """
    with torch.enable_grad():
        values = value(logits)
    if not any(tensor.dtype == torch.float16 for tensor in (logits, *tensors)):
        scales = torch.ones_like(values, requires_grad=False)
        return scales, sweep(values, scales, tensors)
    first = first_scales(value, logits)
    for power in STARTS:
        scales = torch.ldexp(first, torch.tensor(power))
        gradients = sweep(values, scales, tensors)
        if all(bool(gradient.isfinite().all()) for gradient in gradients):
            break
    return scales, gradients


def sweep(values: PerRow, scales: Tensor, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The gradients of the scaled values."""
    return torch.autograd.grad(
        values, tensors, scales, retain_graph=True, allow_unused=True, materialize_grads=True
    )


def first_scales(value: Callable[[Tensor], PerRow], logits: Tensor) -> Tensor:
    """For every row, the power of 2 that brings the largest gradient of its logits between ½ and 1."""
    with torch.enable_grad():
        leaf = logits.detach().to(max_precision(logits.dtype)).requires_grad_()
        (start,) = torch.autograd.grad(value(leaf).sum(), leaf)
    largest = start.abs().flatten(1).amax(1)
    exponents = torch.frexp(largest).exponent
    return torch.ldexp(torch.ones_like(largest), -exponents)
