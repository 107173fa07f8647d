"""How much memory a pass takes above the weights: an estimate before it begins, and what is there for it."""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import torch

from headlight.models.model import Model

BATCH_BYTES = 4 * 2**30
"""What the rows of one pass may take together. A constant, so that batches are the same on every machine."""
SHARE = 0.9
"""The share of the free memory that one row may take if the caller sets no bound."""
MAPS_AT_ONCE = 5
"""Attention maps of one layer that a method holds at a time: weights, their gradient, and products of these."""
MAPS_IN_GRAPH = 3
"""Maps per layer and head that autograd keeps where attention is not fused."""
PER_WEIGHT = 30
"""Numbers that a pass for z⁺ relevance keeps per attention weight, measured on BERT and Llama."""


@dataclass(frozen=True)
class Footprint:
    """Bytes that a row takes, per token and per pair of tokens. least: tokens that are counted at least."""

    per_token: float
    per_pair: float
    least: int = 0

    def of(self, tokens: int) -> int:
        """Bytes of a row of this many tokens."""
        return int(self.per_token * max(tokens, self.least) + self.per_pair * tokens**2)


def footprint(
    model: Model, needs: Collection[str], *, replayed: int = 0, recomputes: bool = False
) -> Footprint:
    """What a pass with these needs takes per row.

    replayed: tokens that share a further pass, for methods that run some. recomputes: only the inputs of blocks
    are kept, and what is inside a block is computed again on the way back.
    """
    layers, heads, features = sizes(model)
    names = set(needs)
    kept = model.kept_per_token or 16.0 * layers * features
    inside = 2 * kept / layers
    has_gradient = any("gradient" in need or need in ("relevance", "replay") for need in names)
    per_token = inside + 4 * layers * features
    if has_gradient:
        per_token = inside + layers * features if recomputes else kept + inside
    per_pair = 0.0
    if any("attention" in need for need in names):
        per_pair = MAPS_AT_ONCE * heads + layers
        if model.sees_attention_by == "softmax":
            per_pair += heads * layers * (MAPS_IN_GRAPH if has_gradient else 1)
    if "relevance" in names:
        per_token, per_pair = per_token + 4 * kept, float(PER_WEIGHT * heads * layers)
    if "again" in names:  # the pass over changed rows is held beside the first
        per_token, per_pair = 2 * per_token, 2 * per_pair
    width = torch.empty((), dtype=model.network.dtype).element_size()
    least = replayed if "replay" in names else 0
    return Footprint(per_token * width, per_pair * width, least)


def sizes(model: Model) -> tuple[int, int, int]:
    """Layers, heads and features of a network, or those of BERT base if its config does not say."""
    config = model.network.config.get_text_config()
    names = ("num_hidden_layers", "num_attention_heads", "hidden_size")
    layers, heads, features = (getattr(config, name, None) for name in names)
    return (
        layers if isinstance(layers, int) and layers else 12,
        heads if isinstance(heads, int) and heads else 12,
        features if isinstance(features, int) and features else 768,
    )


# ------------------------------------------------------------------------------- what is there


def free_bytes(device: torch.device) -> int | None:
    """Memory that a pass on this device could take now; None if it is not known."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0])
    if device.type != "cpu":
        return None
    bounds = [bound for bound in (free_of_machine(), free_of_group()) if bound is not None]
    return min(bounds, default=None)


def free_of_machine() -> int | None:
    """What the operating system says is free."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES")
        except (AttributeError, OSError, ValueError):  # Windows; macOS does not know the second
            return None
    match = re.search(r"MemAvailable:\s+(\d+) kB", text)
    return int(match[1]) * 1024 if match else None


def free_of_group(home: Path = Path("/sys/fs/cgroup")) -> int | None:
    """What a container's bound leaves free; None if there is no bound."""
    try:
        most, used = (
            (home / name).read_text(encoding="ascii").strip()
            for name in ("memory.max", "memory.current")
        )
        return None if most == "max" else max(0, int(most) - int(used))
    except (OSError, ValueError):
        return None
