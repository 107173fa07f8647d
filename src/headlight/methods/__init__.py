"""The registry of methods. A method is a function of a trace; importing this package registers all."""

from headlight.methods import (
    attention,
    attention_flow,
    decoded,
    decomposition,
    deeplift,
    gradient,
    integrated_gradients,
    modified_gradient,
    peel,
    perturbation,
    random,
    relevance,
    sampled_gradients,
)
from headlight.methods.registry import METHODS

__all__ = [
    "METHODS",
    "attention",
    "attention_flow",
    "decoded",
    "decomposition",
    "deeplift",
    "gradient",
    "integrated_gradients",
    "modified_gradient",
    "peel",
    "perturbation",
    "random",
    "relevance",
    "sampled_gradients",
]
