"""The public names, and that importing them stays light."""

import importlib
import pkgutil
import subprocess
import sys

import headlight


def test_every_public_name_exists_and_is_not_hidden_by_a_module() -> None:
    for module in pkgutil.walk_packages(headlight.__path__, "headlight."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    for name in headlight.__all__:
        assert not isinstance(getattr(headlight, name), type(sys)), name
    assert dir(headlight) == sorted(headlight.__all__)


def test_public_names_are_these() -> None:
    assert headlight.__all__ == [
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


def test_all_errors_are_headlight_errors() -> None:
    for name in headlight.__all__:
        value = getattr(headlight, name)
        if isinstance(value, type) and issubclass(value, Exception):
            assert issubclass(value, headlight.HeadlightError)


def test_using_the_library_loads_no_optional_package() -> None:
    code = (
        "import sys, headlight\n"
        "headlight.explain, headlight.load, headlight.METHODS, headlight.render\n"
        "extras = {'matplotlib', 'spacy', 'ray', 'captum', 'fastapi', 'pandas', 'pyarrow', 'datasets'}\n"
        "assert not extras & set(sys.modules), extras & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
