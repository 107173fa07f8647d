"""Methods that add up gradients between a baseline and the input, or around the input.

E is the embedding output, E' that of the baseline, f the target.
"""

from collections.abc import Iterator
from typing import Annotated

import numpy as np
import torch
from torch import Tensor

from headlight.methods.baseline import row_seed
from headlight.methods.gradient import norm
from headlight.methods.registry import METHODS
from headlight.options import Bounds, Count, NotNegative, Seed
from headlight.shapes import Hidden, Scores
from headlight.trace.baselines import ZERO, Baseline
from headlight.trace.goal import Output
from headlight.trace.trace import Noted, Trace

TOKENS_AT_ONCE = 4_096
"""Tokens that share a pass."""
Steps = Annotated[int, Bounds(1, 5_000)]
"""Where to look on a path; finding the places takes time with the cube of their number."""


def groups(trace: Trace, count: int) -> Iterator[slice]:
    """Numbers of repetitions of the batch, in groups that share a pass."""
    size = max(1, TOKENS_AT_ONCE // trace.inputs.ids.numel())
    for start in range(0, count, size):
        yield slice(start, min(count, start + size))


def gradients_at(trace: Trace, points: Tensor, output: Output | None = None) -> Tensor:
    """The gradient of the target at each of [point, batch, token, feature]."""
    found = []
    for group in groups(trace, len(points)):
        leaf = points[group].flatten(0, 1).requires_grad_()
        with torch.enable_grad():
            value = trace.replay(leaf, output).sum()
        (gradient,) = torch.autograd.grad(value, leaf)
        found.append(gradient.view_as(points[group]))
    return torch.cat(found)


# ----------------------------------------------------------------------- integrated gradients


def integrated(trace: Trace, steps: int, baseline: Baseline) -> tuple[Hidden, tuple[str, ...]]:
    """The integrated gradient of every feature and notes on its error, made once for all its methods."""
    found: tuple[Hidden, tuple[str, ...]] = trace.once(
        ("integrated", steps, baseline), lambda: integrate(trace, steps, baseline)
    )
    return found


def integrate(trace: Trace, steps: int, baseline: Baseline) -> tuple[Hidden, tuple[str, ...]]:
    """(E − E') ⊙ ∫ ∇f(E' + a (E − E')) da by Gauss and Legendre, and how far the sum misses f(E) − f(E')."""
    start = baseline.embeddings(trace)
    way = trace.embeddings - start
    places, weights = np.polynomial.legendre.leggauss(steps)
    total = torch.zeros_like(way)
    for group in groups(trace, steps):
        shares = torch.tensor((places[group] + 1) / 2).to(way)[:, None, None, None]
        gradients = gradients_at(trace, start + shares * way)
        total += torch.einsum("s,sbtd->btd", torch.tensor(weights[group] / 2).to(way), gradients)
    result = way * total
    with torch.no_grad():
        ends = trace.replay(torch.cat([trace.embeddings, start])).to(result)
    gained = ends[: len(way)] - ends[len(way) :]
    missed = (result.sum((1, 2)) - gained).abs() / gained.abs().clamp(min=1e-12)
    return result, tuple(
        f"integrated gradients miss the difference to the baseline by {100 * share:.2g} %"
        for share in missed.tolist()
    )


@METHODS.register(
    "integrated_gradients",
    needs={"replay"},
    signed=True,
    aliases=("IG", "LIG"),
    paper="Sundararajan, Taly and Yan (2017)",
)
def integrated_gradients(trace: Trace, *, steps: Steps = 50, baseline: Baseline) -> Noted:
    """Gradients added up on the straight way from a baseline, times that way, summed with sign.

    Σ_k (E − E')_k ∫₀¹ ∂f/∂E_k(E' + a (E − E')) da, by `steps` points of Gauss and Legendre. The scores add up
    to f(E) − f(E'); a note says by how much they miss it.
    """
    found, notes = integrated(trace, steps, baseline)
    return Noted(found.sum(-1), notes)


@METHODS.register(
    "integrated_gradients_l2",
    needs={"replay"},
    aliases=("IG_l2",),
    paper="Sundararajan et al. (2017); Ferrando et al. (2022)",
)
def integrated_gradients_l2(trace: Trace, *, steps: Steps = 50, baseline: Baseline) -> Noted:
    """Length of the integrated gradient of each token.

    ‖(E − E') ⊙ ∫ ∇f‖₂.
    """
    found, notes = integrated(trace, steps, baseline)
    return Noted(norm(found), notes)


@METHODS.register(
    "integrated_gradients_mean",
    needs={"replay"},
    aliases=("IG_mu", "integrated_gradients_mu"),
    paper="Sundararajan et al. (2017); Ferrando et al. (2022), Eq. 15",
)
def integrated_gradients_mean(trace: Trace, *, steps: Steps = 50, baseline: Baseline) -> Noted:
    """Mean magnitude of the integrated gradient of each token.

    1/d Σ_k |(E − E') ⊙ ∫ ∇f|_k.
    """
    found, notes = integrated(trace, steps, baseline)
    return Noted(found.abs().mean(-1), notes)


# ------------------------------------------------------------------------------------ samples


def noise(trace: Trace, samples: int, seed: int) -> Tensor:
    """Standard normal noise [sample, batch, token, feature] that depends on seed and row only."""
    found = torch.zeros(samples, *trace.embeddings.shape, dtype=trace.embeddings.dtype)
    for number, generator in enumerate(generators(trace, seed)):
        length, width = int(trace.inputs.lengths[number]), trace.embeddings.shape[-1]
        drawn = torch.randn(samples, length, width, generator=generator, dtype=found.dtype)
        found[:, number, :length] = drawn
    return found.to(trace.embeddings)


def generators(trace: Trace, seed: int) -> Iterator[torch.Generator]:
    """One a row, by its tokens and the seed, so that neighbours do not matter."""
    for number, length in enumerate(trace.inputs.lengths.tolist()):
        ids = trace.inputs.ids[number, :length].tolist()
        yield torch.Generator().manual_seed(row_seed(ids, seed))


@METHODS.register(
    "smooth_gradient",
    needs={"replay"},
    aliases=("smoothgrad",),
    paper="Smilkov et al. (2017), as in Wallace et al. (2019)",
)
def smooth_gradient(
    trace: Trace, *, samples: Count = 10, scale: NotNegative = 0.01, seed: Seed = 0
) -> Scores:
    """The gradient of the loss averaged over noisy embeddings, as shares of one.

    g = mean of ∇(−log p) at E + ε, ε normal with deviation `scale` (max E − min E); |Σ_k g_k| over its sum
    over tokens. Of the value itself in regression. Where a layer norm follows everything, as in GPT-2,
    Σ_k g_k is 0 by construction, and so are the scores.
    """
    present = trace.inputs.present[..., None]
    highest = trace.embeddings.masked_fill(~present, -torch.inf).amax((1, 2), keepdim=True)
    lowest = trace.embeddings.masked_fill(~present, torch.inf).amin((1, 2), keepdim=True)
    points = trace.embeddings + scale * (highest - lowest) * noise(trace, samples, seed)
    gradient = gradients_at(trace, points, "log_probability").mean(0) * present
    magnitude = gradient.sum(-1).abs()
    rounding = 64 * torch.finfo(magnitude.dtype).eps * gradient.abs().sum(-1)
    magnitude = magnitude.where(magnitude > rounding, 0.0)
    return magnitude / magnitude.sum(-1, keepdim=True).clamp(min=torch.finfo(magnitude.dtype).tiny)


@METHODS.register(
    "gradient_shap",
    needs={"replay"},
    signed=True,
    paper="Lundberg and Lee (2017), expected gradients",
)
def gradient_shap(
    trace: Trace,
    *,
    samples: Count = 20,
    scale: NotNegative = 0.0,
    seed: Seed = 0,
    baseline: Baseline,
) -> Scores:
    """Gradients at random points between the baseline and the noisy input, times the difference.

    Mean over samples of Σ_k (E + ε − E')_k ∂f/∂E_k(E' + a (E + ε − E')), a uniform, ε normal with deviation
    `scale`.
    """
    start = baseline.embeddings(trace)
    shares = torch.stack([torch.rand(samples, generator=g) for g in generators(trace, seed)], 1)
    way = trace.embeddings + scale * noise(trace, samples, seed + 1) - start
    points = start + shares.to(way)[..., None, None] * way
    return (gradients_at(trace, points) * way).sum(-1).mean(0)


@METHODS.register(
    "deeplift",
    needs={"replay"},
    signed=True,
    paper="Shrikumar, Greenside and Kundaje (2017), extended to products",
)
def deeplift(trace: Trace, *, baseline: Baseline) -> Scores:
    """Differences to a baseline carried through every operation, in one pass.

    Σ_k m_k (E − E')_k, m the multipliers of the rescale rule; a product of two values, as in attention, is
    shared by Δ(ab) = b̄ Δa + ā Δb. The scores add up to the difference of the explained logits exactly.
    """
    start = baseline.embeddings(trace)
    return (trace.multiply(start) * (trace.embeddings - start)).sum(-1)


@METHODS.register(
    "deeplift_shap",
    needs={"replay"},
    signed=True,
    paper="Lundberg and Lee (2017)",
)
def deeplift_shap(trace: Trace, *, baseline: Baseline) -> Scores:
    """DeepLIFT averaged over two baselines: the chosen one and no embedding at all."""
    scores: Scores = deeplift(trace, baseline=baseline) + deeplift(trace, baseline=ZERO)
    return scores / 2
