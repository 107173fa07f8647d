"""`Modification`: how a modified gradient differs from the derivative, and the published ones by name.

AttnLRP, CP-LRP, LibraGrad and GIM are one family: their scores are m ⊙ ∇̃f, a multiplier times one backward
pass in which some steps do not go back by their derivative. Nothing is divided by a sum that may cancel, the
explained value enters linearly, and no attention matrix is needed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from types import MappingProxyType


@dataclass(frozen=True)
class Modification:
    """What a backward pass does at each kind of step; the defaults are the derivative.

    constant_norms: the denominator of a normalisation is a constant. ratio_activations: an activation goes back
    by g(x)/x, not g′(x). gate, gated: the factors on the gradients of an activation and of what it multiplies.
    query, key, value: the factors on theirs. temperature: that of the softmax of attention.
    """

    constant_norms: bool = False
    ratio_activations: bool = False
    gate: float = 1.0
    gated: float = 1.0
    query: float = 1.0
    key: float = 1.0
    value: float = 1.0
    temperature: float = 1.0

    @property
    def weights(self) -> float:
        """The factor of the attention weights, where attention is computed step by step.

        Queries and keys get their factors in two steps: at the weights, and where scores are made from them.
        The factor of ¼ is ½ at both, so that position terms, which are in one of the products only, get ½.
        """
        return sqrt(max(self.query, self.key))

    def factor(self, step: str) -> float:
        """The factor on the gradient of a step."""
        if step == "norm":
            return 0.0 if self.constant_norms else 1.0
        if step == "slope":
            return 0.0 if self.ratio_activations else 1.0
        if step in ("query in scores", "key in scores"):
            whole = self.query if step.startswith("query") else self.key
            return whole / self.weights if self.weights else 0.0
        if step == "product":  # of two values of which neither is known to gate the other
            return (self.gate + self.gated) / 2
        return float(getattr(self, step))


MODIFICATIONS: Mapping[str, Modification] = MappingProxyType(
    {
        "gradient": Modification(),
        "attn_lrp": Modification(True, True, 0.5, 0.5, query=0.25, key=0.25, value=0.5),
        "cp_lrp": Modification(True, True, 0.0, 1.0, query=0.0, key=0.0),
        "libragrad": Modification(True, True, 0.5, 0.5, query=0.0, key=0.0),
        "gim": Modification(
            True, False, 0.5, 0.5, query=0.25, key=0.25, value=0.5, temperature=2.0
        ),
    }
)
"""gradient: the derivative. attn_lrp: Achtibat et al. (2024). cp_lrp: Ali et al. (2022). libragrad: Mehri
et al. (2025). gim: Edin et al. (2025)."""
