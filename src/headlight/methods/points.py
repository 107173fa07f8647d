"""The target and its gradient at points between or around embeddings, several points per pass."""

from collections.abc import Iterator

import torch
from torch import Tensor

from headlight.methods.random import row_seed
from headlight.running.memory import TOKENS_AT_ONCE
from headlight.trace.goal import Output
from headlight.trace.trace import Trace


def groups(trace: Trace, count: int) -> Iterator[slice]:
    """`count` repetitions of the batch, in groups that share a pass."""
    size = max(1, TOKENS_AT_ONCE // trace.inputs.ids.numel())
    for start in range(0, count, size):
        yield slice(start, min(count, start + size))


def slopes_at(trace: Trace, points: Tensor, output: Output | None = None) -> tuple[Tensor, Tensor]:
    """The gradient of the target at each of [point, batch, token, feature], and the target's value there."""
    gradients, values = [], []
    for group in groups(trace, len(points)):
        leaf = points[group].flatten(0, 1).requires_grad_()
        with torch.enable_grad():
            value = trace.replay(leaf, output)
        (gradient,) = torch.autograd.grad(value.sum(), leaf)
        gradients.append(gradient.view_as(points[group]))
        values.append(value.detach().view(points[group].shape[:2]))
    return torch.cat(gradients), torch.cat(values)


def gradients_at(trace: Trace, points: Tensor, output: Output | None = None) -> Tensor:
    """The gradient of the target at each of [point, batch, token, feature]."""
    return slopes_at(trace, points, output)[0]


def noise(trace: Trace, samples: int, seed: int) -> Tensor:
    """Standard normal noise [sample, batch, token, feature] that depends only on the seed and the row."""
    values = torch.zeros(samples, *trace.embeddings.shape, dtype=trace.embeddings.dtype)
    for number, generator in enumerate(generators(trace, seed)):
        length, width = int(trace.inputs.lengths[number]), trace.embeddings.shape[-1]
        drawn = torch.randn(samples, length, width, generator=generator, dtype=values.dtype)
        values[:, number, :length] = drawn
    return values.to(trace.embeddings)


def generators(trace: Trace, seed: int) -> Iterator[torch.Generator]:
    """One generator per row, from its tokens and the seed, so that a row's neighbours do not matter."""
    for number, length in enumerate(trace.inputs.lengths.tolist()):
        ids = trace.inputs.ids[number, :length].tolist()
        yield torch.Generator().manual_seed(row_seed(ids, seed))
