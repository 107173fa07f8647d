"""Which mask a model's explanation uses: its own, a part of it, a given one, or a file."""

import hashlib
from pathlib import Path
from typing import Any

from headlight.errors import InvalidInput, InvalidOption
from headlight.headmask import HeadMask
from headlight.models.model import Model

MASKS = Path(__file__).parent / "masks"
PARTS = ("syntactic", "positional", "both")


def chosen_mask(model: Model, mask: Any) -> HeadMask:
    """The mask for a model: given, of a file, or 'syntactic', 'positional' or 'both' of its own."""
    if isinstance(mask, HeadMask):
        return fitting(model, mask)
    if isinstance(mask, str) and mask in PARTS:
        own = own_mask(model)
        return own if mask == "both" else own.part(mask)
    if isinstance(mask, str | Path):
        return fitting(model, HeadMask.load(mask))
    return HeadMask.of(mask)


def own_mask(model: Model) -> HeadMask:
    """The mask that comes with an embedded model."""
    path = MASKS / f"{model.name}.safetensors"
    if not path.exists():
        raise InvalidOption(
            f"{model.name} comes without a head mask. Learn one with headlight.heads.learn(model, corpus) "
            "or `headlight heads learn`, and give it as mask=."
        )
    return fitting(model, HeadMask.load(path))


def fitting(model: Model, mask: HeadMask) -> HeadMask:
    """The mask, refused if it says that it was learned on another model."""
    made_for = mask.facts.get("fingerprint")
    if made_for is not None and made_for != fingerprint(model):
        raise InvalidInput(
            f"the head mask was learned on '{mask.facts.get('model')}' (fingerprint {made_for}), not on "
            f"{model.name} (fingerprint {fingerprint(model)}). Learn one for this model."
        )
    return mask


def fingerprint(model: Model) -> str:
    """Twelve characters that tell networks apart: names, shapes and a few numbers of every parameter."""
    digest = hashlib.sha256()
    for name, parameter in sorted(model.network.named_parameters()):
        sample = parameter.detach().flatten()[:: max(1, parameter.numel() // 8)][:8]
        numbers = ",".join(f"{value:.3e}" for value in sample.float().cpu().tolist())
        digest.update(f"{name}{tuple(parameter.shape)}{numbers}".encode())
    return digest.hexdigest()[:12]
