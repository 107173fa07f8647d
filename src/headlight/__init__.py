"""headlight: why a Transformer decided what it decided, and how far that answer can be trusted.

The public names are loaded when they are first used, so that `import headlight` costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headlight.attribution import Attribution, Generation
    from headlight.batch import Batch
    from headlight.data import DATASETS, Example
    from headlight.errors import (
        HeadlightError,
        InvalidInput,
        InvalidOption,
        MissingExtra,
        UnknownName,
        UnstableModel,
        UnsupportedModel,
    )
    from headlight.evaluation.evaluate import evaluate
    from headlight.evaluation.results import Results, open_run
    from headlight.explanation import explain, explain_generation, explain_layers, mix
    from headlight.headmask import HeadMask
    from headlight.ledger import conservation
    from headlight.loading import load, wrap
    from headlight.methods import METHODS
    from headlight.metrics import METRICS
    from headlight.models.model import Model
    from headlight.renderers import RENDERERS, render
    from headlight.target import Target
    from headlight.tokenmixing import TokenMixing

__version__ = version("headlight")

__all__ = [
    "DATASETS",
    "METHODS",
    "METRICS",
    "RENDERERS",
    "Attribution",
    "Batch",
    "Example",
    "Generation",
    "HeadMask",
    "HeadlightError",
    "InvalidInput",
    "InvalidOption",
    "MissingExtra",
    "Model",
    "Results",
    "Target",
    "TokenMixing",
    "UnknownName",
    "UnstableModel",
    "UnsupportedModel",
    "__version__",
    "conservation",
    "evaluate",
    "explain",
    "explain_generation",
    "explain_layers",
    "load",
    "mix",
    "open_run",
    "render",
    "wrap",
]

HOMES = {
    "DATASETS": "data",
    "METHODS": "methods",
    "METRICS": "metrics",
    "RENDERERS": "renderers",
    "Attribution": "attribution",
    "Batch": "batch",
    "Example": "data",
    "Generation": "attribution",
    "HeadMask": "headmask",
    "Model": "models.model",
    "Results": "evaluation.results",
    "Target": "target",
    "TokenMixing": "tokenmixing",
    "conservation": "ledger",
    "evaluate": "evaluation.evaluate",
    "explain": "explanation",
    "explain_generation": "explanation",
    "explain_layers": "explanation",
    "load": "loading",
    "mix": "explanation",
    "open_run": "evaluation.results",
    "render": "renderers",
    "wrap": "loading",
}


def __getattr__(name: str) -> object:
    if name in ("heads", "plot"):
        return import_module(f"headlight.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'headlight' has no attribute '{name}'")
    return getattr(import_module(f"headlight.{HOMES.get(name, 'errors')}"), name)


def __dir__() -> list[str]:
    return __all__
