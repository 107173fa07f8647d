"""Presets: which rule each kind of operation follows."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

from headlight.errors import unknown_name
from headlight.registry.options import Among
from headlight.trace.relevance.rules import (
    Rule,
    biased_half,
    epsilon_linear,
    epsilon_product,
    epsilon_sum,
    halve,
    pass_on,
    share_product,
    share_sum,
    share_total,
    taylor_softmax,
    z_plus,
)

CHEFER: dict[str, Rule] = {
    "linear": z_plus,
    "addmm": z_plus,
    "convolution": z_plus,
    "matmul": share_product,
    "attend": share_product,
    "add": share_sum,
    "mul": halve,
    "sum": share_total,
    "scale": pass_on,
    "shift": pass_on,
    "softmax": pass_on,
    "activation": pass_on,
    "norm": pass_on,
    "layer_norm": pass_on,
}
ATTN_LRP: dict[str, Rule] = {
    **CHEFER,
    "linear": epsilon_linear,
    "addmm": epsilon_linear,
    "convolution": epsilon_linear,
    "matmul": epsilon_product,
    "attend": epsilon_product,
    "add": epsilon_sum,
    "layer_norm": epsilon_linear,
    "softmax": taylor_softmax,
}

PRESETS: Mapping[str, Mapping[str, Rule]] = MappingProxyType(
    {
        "chefer": CHEFER,
        "chefer_released": {**CHEFER, "addmm": biased_half},
        "attn_lrp": ATTN_LRP,
        "epsilon": {**ATTN_LRP, "softmax": pass_on},
    }
)
"""chefer: Chefer, Gur and Wolf (CVPR 2021). chefer_released: the Mask-LRP code, which differs for GPT-2.
attn_lrp: Achtibat et al. (2024). epsilon: the plain ε rule, softmax passed through."""

Preset = Annotated[str, Among(tuple(PRESETS))]


def preset_rules(name: str) -> Mapping[str, Rule]:
    """The rules of a preset."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    return PRESETS[name]
