"""The registry of methods. A method is a function of a trace; importing this package registers all."""

from headlight.methods import (
    attention,
    baseline,
    decoded,
    decomposition,
    flow,
    gradient,
    path,
    perturbation,
    relevance,
)
from headlight.methods.registry import METHODS

__all__ = [
    "METHODS",
    "attention",
    "baseline",
    "decoded",
    "decomposition",
    "flow",
    "gradient",
    "path",
    "perturbation",
    "relevance",
]
