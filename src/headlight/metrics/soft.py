"""Metrics that keep only a share of the elements of each token's embedding, so that no token goes missing.

The mean share over the tokens is set, not left to the scores: higher scores everywhere remove no more.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from headlight.metrics.case import METRICS, Case, Measure, Measuring, check_protocol, passed_over
from headlight.metrics.curves import FALL, NOTHING_TO_REMOVE, probability
from headlight.registry.options import Count, Seed

SHARES = tuple(n / 10 for n in range(1, 10))
Protocol = Literal["corrected", "proportional"]
KEPT = "mean share of elements kept"


def by_rank(count: int, mean: float) -> NDArray[np.float64]:
    """Shares that fall evenly from the first rank to the last, with this mean and as steep as 0 to 1 allows."""
    behind = (np.arange(count) + 0.5) / count
    return 2 * mean * (1 - behind) if mean <= 0.5 else 1 - 2 * (1 - mean) * behind


def in_proportion(sizes: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """Shares in proportion to sizes, with this mean and at most 1; what is over goes to the others."""
    sizes = sizes / (float(sizes.max()) or 1.0)
    found, free, left = np.zeros(len(sizes)), np.ones(len(sizes), bool), mean * len(sizes)
    while free.any():
        total = sizes[free].sum()
        wanted = sizes * (left / total) if total > 0 else np.full(len(sizes), left / free.sum())
        full = free & (wanted >= 1)
        if not full.any():
            found[free] = wanted[free]
            break
        found[full] = 1.0
        left, free = left - int(full.sum()), free & ~full
    return found


def kept_shares(
    case: Case, order: list[int], mean: float, protocol: Protocol, is_reversed: bool
) -> NDArray[np.float64]:
    """The share that every token of the row keeps; tokens that may not be removed keep everything."""
    found = np.ones(len(case.scores))
    if protocol == "corrected":
        found[order[::-1] if is_reversed else order] = by_rank(len(order), mean)
        return found
    sizes = np.abs(case.scores[order])
    found[order] = 1 - in_proportion(sizes, 1 - mean) if is_reversed else in_proportion(sizes, mean)
    return found


def thinning(
    case: Case, protocol: Protocol, draws: int, seed: int, *, is_reversed: bool
) -> Measuring:
    """The mean fall of the probability at every mean share, and over all of them."""
    check_protocol(protocol, "proportional")
    order = case.ranked()
    if not order:
        return passed_over(NOTHING_TO_REMOVE)
    shares = [kept_shares(case, order, mean, protocol, is_reversed) for mean in SHARES]
    probes = [
        case.subject.thinned(each.tolist(), seed + draw) for each in shares for draw in range(draws)
    ]
    whole, *left = map(probability, (yield [case.subject.whole, *probes]))
    falls = (whole - np.array(left)).reshape(len(SHARES), draws).mean(1)
    return {"": Measure(float(falls.mean()), levels=SHARES, curve=tuple(falls.tolist()))}


@METRICS.register(
    "soft_comprehensiveness",
    group="faithfulness",
    needs={"probability", "one_reading"},
    axes=(KEPT, FALL),
    better="higher",
    paper="Zhao and Aletras (2023), with the mean share held",
    takes="28 (9 shares · 3 draws, and the whole text)",
)
def soft_comprehensiveness(
    case: Case, *, draws: Count = 3, seed: Seed = 0, protocol: Protocol = "corrected"
) -> Measuring:
    """How far the probability falls when tokens lose elements of their embeddings, the highest scores most.

    Mean over π = 0.1 … 0.9 and over draws of p(x) − p(x′). In x′ each element of the word embedding of a token
    is kept with a probability that rises evenly from the highest score to the lowest and has the mean π; the
    others are 0. All methods share the draws. 'proportional': elements are lost in proportion to |score|. That
    also rewards scores for being alike or far apart, whatever their order.
    """
    return (yield from thinning(case, protocol, draws, seed, is_reversed=True))


@METRICS.register(
    "soft_sufficiency",
    group="faithfulness",
    needs={"probability", "one_reading"},
    axes=(KEPT, FALL),
    better="lower",
    paper="Zhao and Aletras (2023), with the mean share held",
    takes="28 (9 shares · 3 draws, and the whole text)",
)
def soft_sufficiency(
    case: Case, *, draws: Count = 3, seed: Seed = 0, protocol: Protocol = "corrected"
) -> Measuring:
    """How far the probability falls when tokens keep elements of their embeddings, the highest scores most.

    As `soft_comprehensiveness`, but the probability that an element is kept falls from the highest score to the
    lowest. 'proportional': elements are kept in proportion to |score|.
    """
    return (yield from thinning(case, protocol, draws, seed, is_reversed=False))
