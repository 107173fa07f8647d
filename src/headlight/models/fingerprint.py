"""A fingerprint that tells networks apart."""

import hashlib

import torch

from headlight.models.model import Model

SAMPLED = 512
"""How many numbers of each parameter are looked at."""


def fingerprint(model: Model) -> str:
    """Twelve characters from the names, shapes and signs of the parameters.

    Signs, not values, so that a network has the same fingerprint in every precision.
    """
    digest = hashlib.sha256()
    for name, parameter in sorted(model.network.named_parameters()):
        step = max(1, parameter.numel() // SAMPLED)
        signs = torch.sign(parameter.detach().flatten()[::step][:SAMPLED].float())
        digest.update(f"{name}{tuple(parameter.shape)}".encode())
        digest.update(signs.to(torch.int8).cpu().numpy().tobytes())
    return digest.hexdigest()[:12]
