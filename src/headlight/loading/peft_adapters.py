"""PEFT adapters from a folder: the base network, with the adapter on it."""

import re
from collections.abc import Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from torch import Tensor, nn

from headlight.errors import MissingExtra
from headlight.loading.peft_folders import PeftFolder

PREFIX = "base_model.model."
"""What PEFT writes before the name of a parameter."""
HEAD = re.compile(r"(^|\.)(classifier|score)(\.out_proj)?\.weight$")
"""The last layer of classifiers, which PEFT stores whole; its rows are the labels."""


def required_peft() -> Any:
    """The package peft; refused with the command that installs it."""
    if find_spec("peft") is None:
        raise MissingExtra(
            "a PEFT adapter needs the package 'peft', which is not installed. Run: pip install peft."
        )
    return import_module("peft")


def stored_weights(adapter: PeftFolder) -> dict[str, Tensor]:
    """The weights of an adapter by the names of the network's parameters."""
    peft = required_peft()
    found: Mapping[str, Tensor] = peft.utils.load_peft_weights(str(adapter.folder), device="cpu")
    return {name.removeprefix(PREFIX): value for name, value in found.items()}


def label_count(weights: Mapping[str, Tensor]) -> int | None:
    """How many labels the head has that an adapter brings; None if it brings none."""
    heads = [value for name, value in weights.items() if HEAD.search(name)]
    return len(heads[0]) if len(heads) == 1 else None


def still_missing(missing: Iterable[str], weights: Mapping[str, Tensor]) -> list[str]:
    """Parameters that neither the base nor the adapter has."""
    return [name for name in missing if name not in weights]


def adapted(network: nn.Module, adapter: PeftFolder) -> nn.Module:
    """The network with an adapter on it; the adapter's layers are put into the network."""
    made: nn.Module = required_peft().PeftModel.from_pretrained(network, str(adapter.folder))
    return made.eval()
