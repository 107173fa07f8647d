"""What the forward of a network takes."""

from collections.abc import Callable
from inspect import signature
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary

from torch import nn

KNOWN: "WeakKeyDictionary[Callable[..., Any], frozenset[str]]" = WeakKeyDictionary()
"""The arguments of functions that were asked for: finding them takes as long as a small layer."""


def arguments_of(network: nn.Module) -> frozenset[str]:
    """The names of the arguments of a network's forward, as it is at this time."""
    function = getattr(network.forward, "__func__", network.forward)
    if not isinstance(
        function, FunctionType
    ):  # such as a partial call, which may be made anew each time
        return frozenset(signature(function).parameters)
    if function not in KNOWN:
        KNOWN[function] = frozenset(signature(function).parameters)
    return KNOWN[function]
