"""Which modules of a network are activations: functions of each number alone."""

from types import BuiltinFunctionType, FunctionType, NoneType
from typing import Any

import torch
from torch import nn

KNOWN: dict[tuple[Any, ...], bool] = {}
"""Modules that were tried, by their class and settings, and whether they are activations."""

PLAIN = (str, int, float, bool, NoneType, FunctionType, BuiltinFunctionType, type)
"""Kinds of settings by which a module can be known again."""


def is_activation(module: nn.Module) -> bool:
    """Whether a module outside torch acts on each number alone, such as a GELU that is written out."""
    kind = type(module)
    if kind.__module__.startswith("torch."):
        return False
    if kind.__module__ == "transformers.activations":
        return True
    if next(module.parameters(), None) is not None or next(module.children(), None) is not None:
        return False
    settings = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    settings.pop("training", None)
    if not all(isinstance(value, PLAIN) for value in settings.values()):
        return acts_alone(module)
    # One class may hold any function, such as a GELU here and a softmax there.
    key = (kind, *sorted(settings.items(), key=lambda setting: setting[0]))
    if key not in KNOWN:
        KNOWN[key] = acts_alone(module)
    return KNOWN[key]


def acts_alone(module: nn.Module) -> bool:
    """Whether a module gives the same for numbers together and for each of them alone."""
    probe = torch.tensor([[-1.5, -0.25, 0.5], [1.0, 2.0, -3.0]])
    try:
        with torch.no_grad():
            together, alone = (
                module(probe),
                [module(number[None, None]) for number in probe.flatten()],
            )
        # Kernels for many numbers may round otherwise than those for one.
        return bool(torch.allclose(together.flatten(), torch.cat(alone).flatten(), 1e-5, 1e-6))
    except Exception:  # noqa: BLE001  # code that takes something else may raise anything
        return False
