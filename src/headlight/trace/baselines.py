"""`Baseline`: what replaces a removed token."""

from dataclasses import dataclass
from typing import Any

import torch

from headlight.errors import InvalidOption, unknown_name
from headlight.models.model import Model
from headlight.shapes import Hidden
from headlight.trace.trace import Trace

KINDS = ("mask", "mean", "pad", "zero")


@dataclass(frozen=True)
class Baseline:
    """A token without meaning, the mean of all word embeddings, or zeros. Special tokens are never replaced."""

    kind: str
    token: int | None = None

    def __str__(self) -> str:
        return self.kind

    def embeddings(self, trace: Trace) -> Hidden:
        """The embeddings of every row with its ordinary tokens replaced; positions are kept."""
        if self.kind == "mean":
            mean: Hidden = trace.forward.once(self, trace.embed_mean)
            return mean
        if self.token is None:
            return trace.embeddings * ~trace.ordinary[..., None]
        ids = torch.where(trace.ordinary, self.token, trace.inputs.ids)
        embeddings: Hidden = trace.forward.once(self, lambda: trace.embed(ids))
        return embeddings


ZERO = Baseline("zero")


def chosen_baseline(model: Model, kind: Any) -> Baseline:
    """The baseline for a model: the mask token if it has one, else the mean of its word embeddings.

    The pad token is no good default: decoders are not trained on it, and its embedding is often zero, where
    the slope of a normalisation has no bound and no sum of gradients reaches the difference.
    """
    if isinstance(kind, Baseline):
        return kind
    mask: int | None = getattr(model.tokenizer, "mask_token_id", None)
    tokens = {"mask": mask, "pad": model.pad_id}
    if kind is None:
        kind = "mean" if mask is None else "mask"
    if kind not in KINDS:
        raise unknown_name("baseline", str(kind), KINDS)
    if kind in tokens and tokens[kind] is None:
        has = ", ".join(f"'{name}'" for name in KINDS if tokens.get(name, 0) is not None)
        raise InvalidOption(f"{model.name} has no {kind} token. Its baselines: {has}.")
    return Baseline(kind, tokens.get(kind))
