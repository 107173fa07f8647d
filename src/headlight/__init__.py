"""headlight: why a Transformer decided what it decided, and how far that answer can be trusted.

The public names are loaded when they are first used, so that `import headlight` costs nothing.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from headlight.attribution import Attribution, Generation
    from headlight.batch import Batch
    from headlight.errors import (
        HeadlightError,
        InvalidInput,
        InvalidOption,
        MissingExtra,
        UnknownName,
        UnstableModel,
        UnsupportedModel,
    )
    from headlight.explanation import explain, explain_generation, explain_layers, mix
    from headlight.headmask import HeadMask
    from headlight.ledger import conservation
    from headlight.loading import load, wrap
    from headlight.methods import METHODS
    from headlight.models.model import Model
    from headlight.renderers import RENDERERS, render
    from headlight.target import Target
    from headlight.tokenmixing import TokenMixing

__version__ = version("headlight")

__all__ = [
    "METHODS",
    "RENDERERS",
    "Attribution",
    "Batch",
    "Generation",
    "HeadMask",
    "HeadlightError",
    "InvalidInput",
    "InvalidOption",
    "MissingExtra",
    "Model",
    "Target",
    "TokenMixing",
    "UnknownName",
    "UnstableModel",
    "UnsupportedModel",
    "__version__",
    "conservation",
    "explain",
    "explain_generation",
    "explain_layers",
    "load",
    "mix",
    "render",
    "wrap",
]

HOMES = {
    "METHODS": "methods",
    "RENDERERS": "renderers",
    "Attribution": "attribution",
    "Batch": "batch",
    "Generation": "attribution",
    "HeadMask": "headmask",
    "Model": "models.model",
    "Target": "target",
    "TokenMixing": "tokenmixing",
    "conservation": "ledger",
    "explain": "explanation",
    "explain_generation": "explanation",
    "explain_layers": "explanation",
    "load": "loading",
    "mix": "explanation",
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
