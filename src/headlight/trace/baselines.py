"""`Baseline`: what stands for a token that is taken away."""

from dataclasses import dataclass
from typing import Any

import torch

from headlight.errors import InvalidOption, unknown_name
from headlight.models.model import Model
from headlight.shapes import Hidden
from headlight.trace.trace import Trace

KINDS = ("mask", "pad", "zero")


@dataclass(frozen=True)
class Baseline:
    """A token that carries no meaning, or no embedding at all (token None). Special tokens stay."""

    kind: str
    token: int | None = None

    def __str__(self) -> str:
        return self.kind

    def embeddings(self, trace: Trace) -> Hidden:
        """The embeddings of every row with its ordinary tokens taken away, positions kept."""
        if self.token is None:
            return trace.embeddings * ~trace.ordinary[..., None]
        without = torch.where(trace.ordinary, self.token, trace.inputs.ids)
        found: Hidden = trace.once(self, lambda: trace.embed(without))
        return found


ZERO = Baseline("zero")


def chosen_baseline(model: Model, kind: Any) -> Baseline:
    """The baseline for a model: the mask token if it has one, else its pad token, else zero."""
    if isinstance(kind, Baseline):
        return kind
    mask: int | None = getattr(model.tokenizer, "mask_token_id", None)
    found = {"mask": mask, "pad": model.pad_id, "zero": None}
    if kind is None:
        kind = next((name for name in ("mask", "pad") if found[name] is not None), "zero")
    if kind not in KINDS:
        raise unknown_name("baseline", str(kind), KINDS)
    if kind != "zero" and found[kind] is None:
        has = ", ".join(f"'{name}'" for name in KINDS if name == "zero" or found[name] is not None)
        raise InvalidOption(f"{model.name} has no {kind} token. Baselines it has: {has}.")
    return Baseline(kind, found[kind])
