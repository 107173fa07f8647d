"""Passes in more bits than a network has: on a copy of it that lives as long as a call.

Relevance divides by sums that may nearly cancel, which magnifies the rounding of activations: in 32 bits `lrp`
may keep only its first digit. Integrals over 16-bit gradients are no better. These sums are values of the pass,
so only the pass needs 64 bits, and `lrp` and `partial_lrp`, which read relevance as it is. The way back of
other methods has the bits of the stored weights, which costs half.

Networks in 16 bits: everything that goes back is computed on a copy in 32 bits. In the embedded `llm` in
bfloat16 `cat` was off by 13 % of its largest score and `attn_lrp` by 1 %; on the copy, by less than 1e-4
(benchmarks/precision). `attn_lrp` of one sentence on `sentiment` took about twice the processor time, and the
weights take three times the memory. Networks that are too large to copy stay in 16 bits, with a note. What is
only read from the pass, such as attention weights, is that of the 16-bit network itself.
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
from headlight.models.quantised import dequantised, is_dequantisable
from headlight.running.kept_memory import converted

MOST_PARAMETERS = 300_000_000
"""Networks up to this size are copied, which takes 2.4 GB in 64 bits."""


SWEPT = frozenset(
    {
        "replay", "relevance", "modified_gradient", "embedding_gradient", "hidden_gradient",
        "attention_gradient", "again",
    }
)  # fmt: skip
"""What methods need that is computed in at least 32 bits."""

MEASURED = {
    torch.bfloat16: "errors of about 1 % of the largest score are usual, and up to 17 % were measured",
    torch.float16: "errors of about 0.1 % of the largest score are usual, and up to 4 % were measured",
}
"""How far scores computed in 16 bits are from those of the same weights in 64 (benchmarks/precision)."""

STORED = "_headlight_stored"
"""The attribute in which a widened weight keeps the network's own weight and its version."""


STABLE_PRESETS = frozenset({"", "attn_lrp", "cp_lrp", "libragrad", "gim"})
"""Presets of relevance that need no more than 32 bits; "" means no relevance.

Modified gradients divide by no sum that may cancel. The preset attn_lrp of `lrp` divides by signed sums that it
keeps away from 0: on 24 sentences the embedded `sentiment` was off by 3e-4 at most, without a change of ranks.
"""


def max_precision(dtype: torch.dtype) -> torch.dtype:
    """The type in which softmax is computed: at least 32 bits."""
    return dtype if dtype in (torch.float32, torch.float64) else torch.float32


def needed_type(model: Model, needs: Collection[str], preset: str) -> torch.dtype:
    """The type in which these needs, and relevance by the rules of this preset, are computed accurately."""
    if preset not in STABLE_PRESETS:
        return torch.float64
    is_swept = not SWEPT.isdisjoint(needs)
    return torch.float32 if is_swept and is_half_precision(model.network) else model.network.dtype


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
    digits = "one to three digits are right"
    if dtype == torch.float32:
        digits = MEASURED[network.dtype]
    return model, f"computed in {kinds[0]}, not {kinds[1]} ({reason}): {digits}"


def obstacle(network: PreTrainedModel) -> str:
    """Why the network cannot be copied in another type; '' if it can."""
    parameters = list(network.parameters())
    if sum(p.numel() for p in parameters) > MOST_PARAMETERS:
        return f"the network has more than {MOST_PARAMETERS // 10**6} million parameters"
    if network.device.type in ("mps", "meta"):
        return f"there are no 64 bits on {network.device.type}"
    if not all(p.is_floating_point() for p in parameters) or not all(
        map(is_dequantisable, network.modules())
    ):
        return "its weights are quantised"
    if any(isinstance(vars(m).get("forward"), FunctionType) for m in network.modules()):
        # deepcopy shares functions, so the copy would run the original's weights.
        return "the forward of a part of it was replaced"
    return ""


def copied(network: PreTrainedModel, dtype: torch.dtype) -> PreTrainedModel:
    """A copy of the network in another type; the network itself is only read."""
    # With the converted tensors in its memo, deepcopy never holds the weights a second time in the old type.
    floating = [t for t in chain(network.parameters(), network.buffers()) if t.is_floating_point()]
    with torch.inference_mode(False):
        plain = [dequantised(tensor) for tensor in floating]
        memo: dict[int, Tensor] = {}
        for tensor, values in zip(floating, converted(plain, dtype), strict=True):
            memo[id(tensor)] = values
            if isinstance(tensor, nn.Parameter):
                memo[id(tensor)] = weight = nn.Parameter(values, requires_grad=False)
                # Quantised weights are no numbers to multiply by, and those of inference mode have no version.
                if type(tensor) is nn.Parameter and not tensor.is_inference():
                    vars(weight)[STORED] = (tensor.detach(), tensor._version)
        return deepcopy(network, memo)


def stored(weight: Tensor) -> Tensor | None:
    """The weight of which this one is a copy in more bits, as long as nobody has changed it; else None."""
    original, version = vars(weight).get(STORED, (weight, None))
    is_wider = weight.dtype != max_precision(original.dtype)
    return original if is_wider and original._version == version else None
