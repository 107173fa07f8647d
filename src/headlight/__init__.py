"""headlight: why a Transformer decided what it decided, and how far that answer can be trusted.

The public names are loaded when they are first used, so that `import headlight` is fast.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING

from headlight.display import DISPLAYS
from headlight.making import MAKING

if TYPE_CHECKING:
    from headlight import foreign as foreign
    from headlight import heads as heads
    from headlight import plot as plot
    from headlight import using as using
    from headlight.ablated import Ablated, HeadEffects
    from headlight.answer import Answer
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
    from headlight.explaining.ablation import ABLATIONS
    from headlight.explaining.answers import explain_answer
    from headlight.explaining.conservation import conservation
    from headlight.explaining.explain import explain
    from headlight.explaining.generation import explain_generation
    from headlight.explaining.heads_off import ablate, ablate_each
    from headlight.explaining.labels import explain_labels
    from headlight.explaining.layers import explain_layers
    from headlight.explaining.mix import mix
    from headlight.explaining.trust import trust
    from headlight.headmask import HeadMask
    from headlight.loading.load import load
    from headlight.loading.wrap import wrap
    from headlight.methods import METHODS
    from headlight.metrics import METRICS
    from headlight.models.model import Model
    from headlight.renderers import RENDERERS, render
    from headlight.target import Target
    from headlight.tokenmixing import TokenMixing

__version__ = version("headlight")


def find_display(kind: str) -> None:
    """Import the module that draws a kind of result; called when the first one is shown."""
    import_module("headlight.report.page" if kind == "Results" else "headlight.renderers.displays")


DISPLAYS.find = find_display
MAKING.find = lambda: import_module("headlight.foreign.scores").from_scores

__all__ = [
    "ABLATIONS",
    "DATASETS",
    "METHODS",
    "METRICS",
    "RENDERERS",
    "Ablated",
    "Answer",
    "Attribution",
    "Batch",
    "Example",
    "Generation",
    "HeadEffects",
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
    "ablate",
    "ablate_each",
    "conservation",
    "evaluate",
    "explain",
    "explain_answer",
    "explain_generation",
    "explain_labels",
    "explain_layers",
    "load",
    "mix",
    "open_run",
    "render",
    "trust",
    "wrap",
]

HOMES = {
    "ABLATIONS": "explaining.ablation",
    "DATASETS": "data",
    "METHODS": "methods",
    "METRICS": "metrics",
    "RENDERERS": "renderers",
    "Ablated": "ablated",
    "Answer": "answer",
    "Attribution": "attribution",
    "Batch": "batch",
    "Example": "data",
    "Generation": "attribution",
    "HeadEffects": "ablated",
    "HeadMask": "headmask",
    "Model": "models.model",
    "Results": "evaluation.results",
    "Target": "target",
    "TokenMixing": "tokenmixing",
    "ablate": "explaining.heads_off",
    "ablate_each": "explaining.heads_off",
    "conservation": "explaining.conservation",
    "evaluate": "evaluation.evaluate",
    "explain": "explaining.explain",
    "explain_answer": "explaining.answers",
    "explain_generation": "explaining.generation",
    "explain_labels": "explaining.labels",
    "explain_layers": "explaining.layers",
    "load": "loading.load",
    "mix": "explaining.mix",
    "open_run": "evaluation.results",
    "render": "renderers",
    "trust": "explaining.trust",
    "wrap": "loading.wrap",
}


def __getattr__(name: str) -> object:
    if name in ("foreign", "heads", "plot", "using"):
        return import_module(f"headlight.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'headlight' has no attribute '{name}'")
    return getattr(import_module(f"headlight.{HOMES.get(name, 'errors')}"), name)


def __dir__() -> list[str]:
    return __all__
