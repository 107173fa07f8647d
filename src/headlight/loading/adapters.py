"""Adapters: what fine-tuning changed in a base network, small enough to ship.

An adapter is a safetensors file. For a parameter NAME it holds one of these: `NAME.a` and `NAME.b` in eight
bits with `NAME.scale`, one number per rank, where (a · scale) b is added to the base; `NAME.delta` in half
precision, which is added; or `NAME` in half precision, which replaces it. Its metadata names the base by the
sha256 of its weights.
"""

from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor
from transformers import PreTrainedModel

from headlight.errors import InvalidInput


def merge_adapter(network: PreTrainedModel, path: Path, base_sha256: str) -> None:
    """Merge the adapter at `path` into a freshly loaded base, in place."""
    try:
        with safe_open(path, "pt") as file:
            facts = file.metadata() or {}
            tensors = {name: file.get_tensor(name).float() for name in file.keys()}  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise InvalidInput(
            f"the adapter '{path.name}' cannot be read: {error}. Install headlight again."
        ) from error
    if facts.get("base_sha256") != base_sha256:
        raise InvalidInput(
            f"the adapter '{path.name}' was trained on another base (sha256 "
            f"{str(facts.get('base_sha256'))[:12]}…, not {base_sha256[:12]}…). "
            "Use the adapter and the base of one headlight release."
        )
    parameters = dict(network.named_parameters())
    with torch.no_grad():
        for name, value in changes(tensors).items():
            target = parameters.get(name.removesuffix("+"))
            if target is None or target.shape != value.shape:
                raise InvalidInput(
                    f"the adapter '{path.name}' changes '{name.removesuffix('+')}', which "
                    f"{type(network).__name__} does not have in that shape."
                )
            value = value.to(target.device)
            target.copy_(target + value if name.endswith("+") else value)


def changes(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """New values by parameter name; the value of a name that ends in '+' is to be added."""
    values = {}
    for name, value in tensors.items():
        if name.endswith(".a"):
            stem = name.removesuffix(".a")
            values[f"{stem}+"] = (value * tensors[f"{stem}.scale"]) @ tensors[f"{stem}.b"]
        elif name.endswith(".delta"):
            values[f"{name.removesuffix('.delta')}+"] = value
        elif not name.endswith((".b", ".scale")):
            values[name] = value
    return values
