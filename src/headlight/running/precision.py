"""Passes in more bits than a network has: on a copy of it that lives as long as a call.

Relevance divides by sums that may nearly cancel, which magnifies the rounding of activations: in 32 bits `lrp`
may keep only its first digit. In 64 bits it keeps ten. Integrals over 16-bit gradients are no better.
"""

from collections.abc import Collection
from copy import deepcopy
from dataclasses import replace
from itertools import chain
from types import FunctionType

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from headlight.models.model import Model, is_half_precision

MOST_PARAMETERS = 300_000_000
"""Networks up to this size are copied, which takes 2.4 GB in 64 bits."""


STABLE_PRESETS = frozenset({"", "attn_lrp"})
"""Presets of relevance that keep three digits in 32 bits; "" means no relevance.

AttnLRP divides by signed sums that it keeps away from 0: on 24 sentences the embedded `sentiment` was off by
3e-4 at most, without a change of ranks. More digits would make a call three times as slow.
"""


def max_precision(dtype: torch.dtype) -> torch.dtype:
    """The type in which softmax is computed: at least 32 bits."""
    return dtype if dtype in (torch.float32, torch.float64) else torch.float32


def needed_type(model: Model, needs: Collection[str], preset: str) -> torch.dtype:
    """The type in which these needs, and relevance by the rules of this preset, are computed accurately."""
    if preset not in STABLE_PRESETS:
        return torch.float64
    is_sum = bool({"replay", "relevance"} & set(needs))
    return torch.float32 if is_sum and is_half_precision(model.network) else model.network.dtype


def widened(model: Model, dtype: torch.dtype) -> tuple[Model, str]:
    """The model in another type, with a note on what that changes or why it was not possible."""
    network = model.network
    if network.dtype == dtype:
        return model, ""
    kinds = [str(kind).removeprefix("torch.") for kind in (network.dtype, dtype)]
    reason = obstacle(network)
    if not reason:
        try:
            wide = replace(model, network=copied(network, dtype))
        except (MemoryError, RuntimeError, TypeError) as error:
            reason = f"it cannot be copied, {type(error).__name__}"
        else:
            is_half = is_half_precision(network)
            return wide, f"computed in {kinds[1]} from {kinds[0]} weights" if is_half else ""
    return (
        model,
        f"computed in {kinds[0]}, not {kinds[1]} ({reason}): one to three digits are right",
    )


def obstacle(network: PreTrainedModel) -> str:
    """Why the network cannot be copied in another type; '' if it can."""
    parameters = list(network.parameters())
    if sum(p.numel() for p in parameters) > MOST_PARAMETERS:
        return f"the network has more than {MOST_PARAMETERS // 10**6} million parameters"
    if network.device.type in ("mps", "meta"):
        return f"there are no 64 bits on {network.device.type}"
    if not all(type(p) is nn.Parameter and p.is_floating_point() for p in parameters):
        return "its weights are quantised"
    if any(isinstance(vars(m).get("forward"), FunctionType) for m in network.modules()):
        # deepcopy shares functions, so the copy would run the original's weights.
        return "the forward of a part of it was replaced"
    return ""


def copied(network: PreTrainedModel, dtype: torch.dtype) -> PreTrainedModel:
    """A copy of the network in another type; the network itself is only read."""
    # With the converted tensors in its memo, deepcopy never holds the weights a second time in the old type.
    memo: dict[int, Tensor] = {}
    with torch.inference_mode(False):
        for tensor in chain(network.parameters(), network.buffers()):
            if tensor.is_floating_point():
                values = tensor.detach().to(dtype)
                is_weight = isinstance(tensor, nn.Parameter)
                memo[id(tensor)] = (
                    nn.Parameter(values, requires_grad=False) if is_weight else values
                )
        return deepcopy(network, memo)
