"""DeepLIFT: differences from a baseline, carried through every operation (see `trace/relevance/deeplift.py`).

E is the embedding output, E' that of the baseline.
"""

from headlight.methods.registry import METHODS
from headlight.registry.options import BY_MODEL
from headlight.shapes import Scores
from headlight.trace.baselines import ZERO, Baseline
from headlight.trace.trace import Trace


@METHODS.register(
    "deeplift",
    group="gradients",
    needs={"replay"},
    signed=True,
    paper="Shrikumar, Greenside and Kundaje (2017), extended to products",
)
def deeplift(trace: Trace, *, baseline: Baseline = BY_MODEL) -> Scores:
    """Differences from a baseline carried through every operation, in one pass.

    Σ_k m_k (E − E')_k, m the multipliers of the rescale rule; a product of two values, as in attention, is
    shared by Δ(ab) = b̄ Δa + ā Δb. The scores add up exactly to the difference of the explained logits.
    """
    start = baseline.embeddings(trace)
    return (trace.multiply(start) * (trace.embeddings - start)).sum(-1)


@METHODS.register(
    "deeplift_shap",
    group="gradients",
    needs={"replay"},
    signed=True,
    paper="Lundberg and Lee (2017)",
)
def deeplift_shap(trace: Trace, *, baseline: Baseline = BY_MODEL) -> Scores:
    """DeepLIFT averaged over two baselines: the chosen one and zeros."""
    scores: Scores = deeplift(trace, baseline=baseline) + deeplift(trace, baseline=ZERO)
    return scores / 2
