"""A fingerprint that tells networks apart.

It is computed anew for every call that asks for it, because nothing that torch counts tells of every change of
a weight: a write to `parameter.data`, as adapters are merged, leaves the parameter's version as it was.
"""

import hashlib

import torch
from torch import Tensor, nn

from headlight.models.model import Model
from headlight.models.quantised import dequantised

SAMPLED = 512
"""How many numbers of each parameter are looked at."""


def fingerprint(model: Model) -> str:
    """Twelve characters from the names, shapes and signs of the parameters.

    Signs, not values, so that a network has the same fingerprint in every precision.
    """
    named = sorted(model.network.named_parameters())
    samples = [sampled(parameter).float().cpu() for _, parameter in named]
    signs = torch.cat([torch.empty(0), *samples]).sign().to(torch.int8).numpy().tobytes()
    digest, start = hashlib.sha256(), 0
    for (name, parameter), sample in zip(named, samples, strict=True):
        digest.update(f"{name}{tuple(parameter.shape)}".encode())
        digest.update(signs[start : start + len(sample)])
        start += len(sample)
    return digest.hexdigest()[:12]


def sampled(parameter: nn.Parameter) -> Tensor:
    """Numbers of a parameter at equal distances: a view of it, if it lies in memory in order."""
    count = parameter.numel()
    step = max(1, count // SAMPLED)
    if type(parameter) is nn.Parameter and parameter.is_contiguous():
        taken = min(SAMPLED, -(-count // step))
        return parameter.detach().as_strided((taken,), (step,))
    return dequantised(parameter).flatten()[::step][:SAMPLED]
