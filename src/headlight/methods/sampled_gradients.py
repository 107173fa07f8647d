"""Methods that average gradients at random points around the input, or between a baseline and the input.

E is the embedding output, E' that of the baseline, f the target.
"""

import torch

from headlight.methods.gradient import norm
from headlight.methods.points import generators, gradients_at, noise
from headlight.methods.registry import METHODS
from headlight.registry.options import BY_MODEL, Count, NotNegative, Seed
from headlight.trace.baselines import Baseline
from headlight.trace.trace import Noted, Trace


@METHODS.register(
    "smooth_gradient",
    group="gradients",
    needs={"replay"},
    aliases=("smoothgrad",),
    paper="Smilkov et al. (2017), as in Wallace et al. (2019)",
)
def smooth_gradient(
    trace: Trace, *, samples: Count = 10, scale: NotNegative = 0.01, seed: Seed = 0
) -> Noted:
    """The gradient of the loss averaged over noisy embeddings, scaled to sum to 1.

    g = mean of ∇(−log p) at E + ε, ε normal with deviation `scale` (max E − min E); |Σ_k g_k| divided by its
    sum over tokens. In regression, the gradient of the value itself. If everything goes through a layer norm,
    as in GPT-2, Σ_k g_k is always 0; then ‖g‖₂ is used instead, and a note says so.
    """
    present = trace.inputs.present[..., None]
    highest = trace.embeddings.masked_fill(~present, -torch.inf).amax((1, 2), keepdim=True)
    lowest = trace.embeddings.masked_fill(~present, torch.inf).amin((1, 2), keepdim=True)
    points = trace.embeddings + scale * (highest - lowest) * noise(trace, samples, seed)
    gradient = gradients_at(trace, points, "log_probability").mean(0) * present
    magnitude = gradient.sum(-1).abs()
    # A sum that is 0 in theory is some eps of its terms in practice.
    rounding = 64 * torch.finfo(magnitude.dtype).eps * gradient.abs().sum(-1)
    is_empty = (magnitude <= rounding).all(-1)
    magnitude = torch.where(is_empty[:, None], norm(gradient), magnitude)
    shares = magnitude / magnitude.sum(-1, keepdim=True).clamp(
        min=torch.finfo(magnitude.dtype).tiny
    )
    return Noted(shares, tuple(EMPTY if empty else "" for empty in is_empty.tolist()))


EMPTY = (
    "the gradient of every token sums to 0 over features, because a layer norm subtracts the mean: its "
    "length is shown instead"
)


@METHODS.register(
    "gradient_shap",
    group="gradients",
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
    baseline: Baseline = BY_MODEL,
) -> Noted:
    """Gradients at random points between the baseline and the noisy input, times the difference.

    Mean over samples of Σ_k (E + ε − E')_k ∂f/∂E_k(E' + a (E + ε − E')), a uniform, ε normal with deviation
    `scale`. Averaged over many samples, the scores add up to f(E) − f(E'); a note says by how much they miss
    it.
    """
    start = baseline.embeddings(trace)
    shares = torch.stack([torch.rand(samples, generator=g) for g in generators(trace, seed)], 1)
    way = trace.embeddings + scale * noise(trace, samples, seed + 1) - start
    points = start + shares.to(way)[..., None, None] * way
    scores = (gradients_at(trace, points) * way).sum(-1).mean(0)
    with torch.no_grad():
        values = trace.replay(torch.cat([trace.embeddings, start])).to(scores)
    gained = values[: len(start)] - values[len(start) :]
    missed = (scores.sum(-1) - gained).abs() / gained.abs().clamp(min=1e-12)
    return Noted(
        scores,
        tuple(
            f"the scores miss the difference from the baseline by {100 * share:.2g} % after {samples} samples"
            for share in missed.tolist()
        ),
    )
