"""A model whose weights are replaced by random ones, from the head down."""

from copy import deepcopy
from dataclasses import replace

import torch

from headlight.errors import UnsupportedModel
from headlight.models.model import Model
from headlight.models.quantised import is_plain, quantised_advice


def randomised(model: Model, depth: int) -> Model:
    """A copy whose head and last `depth` − 1 blocks have random weights of the same mean and spread."""
    if not all(map(is_plain, model.network.parameters())):
        raise UnsupportedModel(
            f"the weights of {model.family} cannot be replaced by random ones."
            f"{quantised_advice(model.network)}"
        )
    network = deepcopy(model.network)
    copy = replace(model, network=network)
    blocks = copy.blocks
    inside = {id(p) for p in network.base_model.parameters()}
    pooler = getattr(network.base_model, "pooler", None)
    chosen = [p for p in network.parameters() if id(p) not in inside]
    chosen += list(pooler.parameters()) if pooler is not None else []
    for block in blocks[len(blocks) - depth + 1 :]:
        chosen += list(block.parameters())
    generator = torch.Generator().manual_seed(depth)
    with torch.no_grad():
        for parameter in chosen:
            drawn = torch.randn(parameter.shape, generator=generator)
            spread = parameter.std(correction=0)
            parameter.copy_(drawn.to(parameter) * spread + parameter.mean())
    return copy
