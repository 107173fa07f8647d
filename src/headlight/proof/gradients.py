"""The gradients of a watched probe: one backward sweep, which several proofs look at."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from headlight.trace.forward import Pass


@dataclass(frozen=True, eq=False)
class ProbeGradients:
    """The gradients of a random mixture of the logits; None for parts that it does not depend on.

    attention: of what carries the graph of every layer's attention (see `Captured.mixed`).
    """

    embeddings: Tensor | None
    last: Tensor | None
    hidden: tuple[Tensor | None, ...]
    attention: tuple[Tensor | None, ...]


def probe_gradients(watched: Pass) -> ProbeGradients:
    """The gradients of a probe, computed once."""
    gradients: ProbeGradients = watched.once("probe_gradients", lambda: sweep_back(watched))
    return gradients


def sweep_back(watched: Pass) -> ProbeGradients:
    """The gradients of a probe from a backward sweep."""
    captured, logits = watched.captured, watched.logits
    parts = [captured.embeddings, captured.last, *captured.hidden, *captured.mixed]
    used = [n for n, part in enumerate(parts) if part is not None and part.requires_grad]
    found = torch.autograd.grad(
        (logits * mixture(logits.shape, logits)).sum(),
        [part for part in (parts[n] for n in used) if part is not None],
        retain_graph=True,
        allow_unused=True,
    )
    by_part = dict(zip(used, found, strict=True))
    embeddings, last, *others = (by_part.get(n) for n in range(len(parts)))
    depth = len(captured.hidden)
    return ProbeGradients(embeddings, last, tuple(others[:depth]), tuple(others[depth:]))


def mixture(shape: Sequence[int], like: Tensor, seed: int = 0) -> Tensor:
    """Random weights, the same each time."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(like)


def in_64_bits(gradient: Tensor | None, part: Tensor) -> Tensor:
    """A gradient in 64 bits, zero if there is none."""
    return torch.zeros_like(part).double() if gradient is None else gradient.double()
