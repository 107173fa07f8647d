"""Methods that remove tokens and look at the target.

A removed token is replaced by the baseline at the same position. Special tokens are never removed, so their
score is 0. f(S) is the target when only the tokens in S are kept.
"""

from typing import Annotated

import torch
from torch import Tensor

from headlight.errors import InvalidOption
from headlight.methods.points import generators, groups
from headlight.methods.registry import METHODS
from headlight.registry.options import BY_MODEL, Bounds, Count, NotNegative, Positive, Seed
from headlight.shapes import Scores
from headlight.trace.baselines import Baseline
from headlight.trace.trace import Trace

Samples = Annotated[int, Bounds(2)]
"""At least two: the first sample is the whole text, from which nothing can be learned alone."""


@torch.no_grad()
def values_of(trace: Trace, kept: Tensor, baseline: Baseline = BY_MODEL) -> Tensor:
    """The target [sample, batch] when the tokens `kept` [sample, batch, token] are kept."""
    replaced = baseline.embeddings(trace)
    values = []
    for group in groups(trace, len(kept)):
        mixed = torch.where(kept[group][..., None], trace.embeddings, replaced)
        value = trace.replay(mixed.flatten(0, 1))
        values.append(value.view(len(mixed), -1).to(trace.embeddings))
    return torch.cat(values)


@METHODS.register(
    "occlusion",
    group="perturbation",
    needs={"replay"},
    signed=True,
    aliases=("leave_one_out", "feature_ablation"),
    paper="Zeiler and Fergus (2014); Li et al. (2016)",
)
def occlusion(trace: Trace, *, window: Count = 1, baseline: Baseline = BY_MODEL) -> Scores:
    """How much the target falls when a token, or a window around it, is removed.

    The mean of f(all) − f(all but the window) over the windows of `window` tokens that contain the token.
    """
    size = trace.inputs.ids.shape[1]
    lengths = trace.inputs.lengths
    first = torch.arange(size, device=lengths.device)
    spread = (first[None, :] >= first[:, None]) & (first[None, :] < first[:, None] + window)
    starts = first[:, None] <= (lengths - window).clamp(min=0)[None, :]
    windows = spread[:, None, :] & starts[..., None] & trace.inputs.present
    kept = torch.cat([torch.ones_like(windows[:1]), ~windows])
    values = values_of(trace, kept, baseline)
    falls = (values[0] - values[1:])[..., None] * windows
    covered = windows.sum(0).clamp(min=1)
    return falls.sum(0) / covered * trace.ordinary


@METHODS.register(
    "shapley",
    group="perturbation",
    needs={"replay"},
    signed=True,
    aliases=("shapley_sampling", "shapley_value_sampling"),
    paper="Castro, Gómez and Tejada (2009)",
)
def shapley(
    trace: Trace, *, permutations: Count = 25, seed: Seed = 0, baseline: Baseline = BY_MODEL
) -> Scores:
    """What a token adds when tokens are restored one by one, averaged over random orders.

    Mean over permutations of f(before ∪ t) − f(before): in the limit, the Shapley value. The scores add up
    to f(all) − f(none).
    """
    total = torch.zeros_like(trace.embeddings[..., 0])
    random = list(generators(trace, seed))
    for _ in range(permutations):
        ranks = torch.zeros_like(trace.inputs.ids)
        for row, generator in enumerate(random):
            places = trace.ordinary[row].nonzero()[:, 0]
            ranks[row, places] = torch.randperm(len(places), generator=generator).to(ranks) + 1
        steps = torch.arange(int(ranks.max()) + 1, device=ranks.device)
        values = values_of(trace, ranks <= steps[:, None, None], baseline)
        gains = torch.cat([torch.zeros_like(values[:1]), values.diff(dim=0)])
        total += gains.gather(0, ranks.T).T * trace.ordinary
    return total / permutations


@METHODS.register(
    "lime",
    group="perturbation",
    needs={"replay"},
    signed=True,
    paper="Ribeiro, Singh and Guestrin (2016)",
)
def lime(
    trace: Trace,
    *,
    samples: Samples = 200,
    width: Positive = 0.25,
    ridge: NotNegative = 0.01,
    seed: Seed = 0,
    baseline: Baseline = BY_MODEL,
) -> Scores:
    """Weights of a linear model of the target, fitted to texts with tokens removed at random.

    In each sample a random number of random tokens is removed; it has the weight exp(−d²/width²), d the
    cosine distance to the whole text. Ridge regression with an intercept, in 64 bits.
    """
    kept = torch.ones(samples, *trace.inputs.ids.shape, dtype=torch.bool)
    for row, generator in enumerate(generators(trace, seed)):
        places = trace.ordinary[row].nonzero()[:, 0].cpu()
        for sample in range(1, samples):
            count = int(torch.randint(1, len(places) + 1, (1,), generator=generator))
            order = torch.randperm(len(places), generator=generator)
            kept[sample, row, places[order[:count]]] = False
    values = values_of(trace, kept.to(trace.ordinary.device), baseline).double().cpu()
    scores = torch.zeros(trace.inputs.ids.shape, dtype=torch.float64)
    for row in range(len(scores)):
        places = trace.ordinary[row].nonzero()[:, 0].cpu()
        scores[row, places] = ridge_weights(
            kept[:, row, places].double(), values[:, row], width, ridge
        )
    return scores.to(trace.embeddings)


def ridge_weights(features: Tensor, values: Tensor, width: float, ridge: float) -> Tensor:
    """The coefficients of a weighted ridge regression; the intercept is not penalised."""
    # The cosine of a 0/1 vector with the vector of ones is the root of its share of ones.
    distance = 1 - features.mean(1).sqrt()
    weights = torch.exp(-((distance / width) ** 2))
    if not (weights[1:] > torch.finfo(weights.dtype).eps).any():
        raise InvalidOption(
            f"width={width} is too narrow for 'lime': every sample except the whole text has no weight. "
            "Use a larger one."
        )
    weights = weights / weights.sum()
    centred = features - weights @ features
    target = values - weights @ values
    covariance = centred.T @ (weights[:, None] * centred)
    penalty = ridge / len(values) * torch.eye(len(covariance), dtype=covariance.dtype)
    try:
        coefficients: Tensor = torch.linalg.solve(
            covariance + penalty, centred.T @ (weights * target)
        )
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]
        raise InvalidOption(
            f"samples={len(values)} are too few for 'lime' to tell {len(covariance)} tokens apart with "
            f"ridge={ridge}. Use more samples, or a larger ridge."
        ) from None
    return coefficients
