"""Methods of one modified backward pass: R = m ⊙ ∇̃f, with the gradient of `trace/relevance/modifications.py`.

E is the embedding output, E' that of the baseline, f the explained logit, ∇̃ the modified gradient.
"""

from typing import Annotated, Literal

from headlight.methods.registry import METHODS
from headlight.registry.options import BY_MODEL, Bounds, Share
from headlight.shapes import Hidden, Scores
from headlight.trace.baselines import Baseline
from headlight.trace.relevance.modifications import MODIFICATIONS, Modification
from headlight.trace.trace import Trace

Temperature = Annotated[float, Bounds(0.1, 100)]


def scored(trace: Trace, modification: Modification, multiplier: Hidden | None = None) -> Scores:
    """Σ_k m_k ∇̃_k f; the multiplier is the input if there is no other."""
    gradient = trace.gradients("logit", modification).embeddings
    return ((trace.embeddings if multiplier is None else multiplier) * gradient).sum(-1)


@METHODS.register(
    "attn_lrp",
    group="relevance",
    needs={"modified_gradient"},
    preset="attn_lrp",
    signed=True,
    aliases=("AttnLRP",),
    paper="Achtibat et al. (2024)",
)
def attn_lrp(trace: Trace) -> Scores:
    """Relevance with rules for softmax, products and norms, as one modified backward pass.

    Σ_k E_k ∇̃_k f: normalisations with a constant denominator, activations by g(x)/x, products shared in
    halves (queries and keys ¼, values ½), softmax and linear maps by their derivative.
    """
    return scored(trace, MODIFICATIONS["attn_lrp"])


@METHODS.register(
    "cp_lrp",
    group="relevance",
    needs={"modified_gradient"},
    preset="cp_lrp",
    signed=True,
    aliases=("CP-LRP",),
    paper="Ali et al. (2022)",
)
def cp_lrp(trace: Trace) -> Scores:
    """Relevance that goes only through the values of attention: its weights, gates and norms are constants.

    Σ_k E_k ∇̃_k f with no gradient for queries, keys and gates, and activations by g(x)/x.
    """
    return scored(trace, MODIFICATIONS["cp_lrp"])


@METHODS.register(
    "libragrad",
    group="relevance",
    needs={"modified_gradient"},
    preset="libragrad",
    signed=True,
    aliases=("LibraGrad",),
    paper="Mehri et al. (CVPR 2025)",
)
def libragrad(trace: Trace) -> Scores:
    """Input times a gradient that is balanced: attention weights and norms are constants, gates are halved.

    Σ_k E_k ∇̃_k f. In a network without biases it sums to f. Differs from cp_lrp only if there are gates.
    """
    return scored(trace, MODIFICATIONS["libragrad"])


@METHODS.register(
    "gim",
    group="relevance",
    needs={"modified_gradient"},
    preset="gim",
    signed=True,
    aliases=("GIM",),
    paper="Edin et al. (2025)",
)
def gim(trace: Trace, *, baseline: Baseline = BY_MODEL) -> Scores:
    """Gradient interaction modifications: the softmax of attention goes back at a temperature of 2.

    Σ_k (E_k − E'_k) ∇̃_k f: norms with a constant denominator, products shared in halves (queries and keys ¼,
    values ½), activations by their derivative.
    """
    return scored(trace, MODIFICATIONS["gim"], trace.embeddings - baseline.embeddings(trace))


@METHODS.register(
    "modified_gradient",
    group="relevance",
    needs={"modified_gradient"},
    signed=True,
    paper="the family of AttnLRP, CP-LRP, LibraGrad and GIM",
)
def modified_gradient(
    trace: Trace,
    *,
    norms: Literal["constant", "derivative"] = "constant",
    activations: Literal["ratio", "derivative"] = "ratio",
    gate: Share = 0.5,
    scores: Share = 0.25,
    value: Share = 0.5,
    temperature: Temperature = 1.0,
) -> Scores:
    """Input times a gradient that is modified as the options say; by default as in attn_lrp.

    norms: whether their denominator is a constant. activations: by g(x)/x or by g′(x). gate: the share of the
    activation in its product with another value, which gets the rest. scores, value: factors on the gradients
    of queries and keys, and of values. temperature: that of the softmax of attention on the way back.
    """
    modification = Modification(
        norms == "constant",
        activations == "ratio",
        gate,
        1 - gate,
        query=scores,
        key=scores,
        value=value,
        temperature=temperature,
    )
    return scored(trace, modification)
